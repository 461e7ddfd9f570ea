package main

// Replica is THE SEAM: adapter.go speaks kraft-adapter/1 above it, below it is an implementation of KRaft.
//
// Implement it for your own replica, put that into main.go, and delete the voter.
// An error that is Unsupported makes the vector unsupported, and not failed.
type Replica interface {
	// Hello says what is tested, and how much of it can be: the fields of the reply, without schema.
	// Begin with much in unsupported and with the observability wire, and take away and raise as you go.
	Hello() Object
	// Reset forgets everything.  You are replica id of the cluster with an empty disk, formatted and started:
	// Unattached in epoch 0.
	Reset(id int64, cluster *Cluster) error
	// Step carries out an event: a message arrives (Handle...), a timer fires (...Timeout), the replica is polled, a
	// client appends.  It gives what the replica writes, sends and starts, in its order, such as
	// {"kind":"Send","message":{...}}; below the observability effects only Send and Answer.
	Step(event string, message *Message, input Input, draw Draw) ([]Object, error)
	// Observe shows the fields of the state; it is asked only if the observability is state.
	Observe() Object
	// Crash ends the process; the records before logEndOffset survive, of all else what was synced.
	Crash(logEndOffset int64)
	// Restart starts the process from its disk, and listens at endpoint if there is one.
	Restart(endpoint *string, draw Draw) ([]Object, error)
}

// Object is a JSON object.  Its names, and those of the fields below, are of kraft-spec's docs/trace-format.md.
type Object map[string]any

// Unsupported is what this implementation does not have.
type Unsupported string

func (what Unsupported) Error() string { return string(what) }

// Draw is what the runner owns, because it is chance: take these in place of numbers of your own.
type Draw struct {
	CorrelationID     int64 `json:"correlation_id"`
	ElectionTimeoutMS int64 `json:"election_timeout_ms"`
	ElectionBackoffMS int64 `json:"election_backoff_ms"`
}

// Input has the fields of an event that is no message: the part that is needed here.
type Input struct {
	Destination int64 `json:"destination"`
}

// Key is the id of a replica and the directory id of its disk, nil if it is not known.
type Key struct {
	ID          int64 `json:"id"`
	DirectoryID any   `json:"directory_id"`
}

// Cluster is what the operators set up before the replica starts: the part that is needed here.
type Cluster struct {
	Profile  string `json:"profile"`
	ID       string `json:"cluster_id"`
	Replicas []struct {
		Key
		Endpoint  string `json:"endpoint"`
		PreVote   string `json:"pre_vote"`
		Endpoints bool   `json:"endpoints"`
	} `json:"replicas"`
	Voters           []Key   `json:"voters"`
	BootstrapServers []int64 `json:"bootstrap_servers"`
	Timeouts         struct {
		Fetch int64 `json:"fetch_timeout_ms"`
	} `json:"timeouts"`
}

// Message is a message that arrives, of any type: what another type has is left at its zero value.
type Message struct {
	Source         int64    `json:"source"`
	Destination    int64    `json:"destination"`
	CorrelationID  int64    `json:"correlation_id"`
	Error          string   `json:"error"`
	Epoch          int64    `json:"epoch"`
	LeaderID       *int64   `json:"leader_id"`
	LeaderEndpoint *string  `json:"leader_endpoint"`
	ClusterID      *string  `json:"cluster_id"`
	ReplicaKey     Key      `json:"replica_key"`
	VoterKey       *Key     `json:"voter_key"`
	LastEpoch      int64    `json:"last_epoch"`
	EndOffset      int64    `json:"end_offset"`
	PreVote        bool     `json:"pre_vote"`
	Granted        bool     `json:"granted"`
	HighWatermark  int64    `json:"high_watermark"`
	DivergingEpoch *int64   `json:"diverging_epoch"`
	Records        []Record `json:"records"`
}

// Record is a record of the metadata log: the part that is needed here.
type Record struct {
	Epoch  int64  `json:"epoch"`
	Kind   string `json:"kind"`
	Value  int64  `json:"value"`
	Voters []Key  `json:"voters,omitempty"`
}
