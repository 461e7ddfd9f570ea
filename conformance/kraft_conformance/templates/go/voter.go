package main

const none = int64(-1) // no leader, no offset

// Voter is a minimal one, there so that the adapter can be seen working: elections, the announcement of a leader, and
// the Fetch of a Follower, with voters that never change.
type Voter struct {
	cluster   *Cluster
	key       Key
	endpoints map[int64]string // of the replicas, while the process runs

	disk              // at the end of the step
	before            disk
	role              string
	highWatermark     int64
	answered          map[int64]bool  // voters: in this round of an election; at a Leader: to its announcement
	granted, rejected int             // how many of the voters, in this round
	awaiting          map[int64]int64 // receiver of a request to its correlation id
	fetched           bool            // a Fetch of the Follower succeeded

	// Of one step.
	draw   Draw
	sends  []Object
	timers map[string]int64
}

type disk struct {
	quorumState
	log     []Record
	flushed int // the records before it are synced
}

type quorumState struct {
	epoch, leader int64
	voted         Key
}

func (v *Voter) Hello() Object {
	return Object{
		"implementation": Object{"name": "minimal-voter-go", "version": "2"},
		"kip_levels":     Object{"KIP-595": "partial", "KIP-996": "full", "KIP-853": "partial"},
		"kraft_versions": []int{1},
		"profile":        "kip",
		"observability":  "state",
		"unsupported": []string{"observers", "crash-in-step", "snapshots", "disk-replacement", "voter-changes",
			"voters-records", "append-voters", "auto-join", "kraft-version-upgrade", "quorum-reassignment",
			"fetch-limit"},
	}
}

func (v *Voter) Reset(id int64, cluster *Cluster) error {
	*v = Voter{cluster: cluster, disk: disk{quorumState: quorumState{leader: none}}}
	for _, one := range cluster.Replicas {
		if one.ID == id {
			v.key = one.Key
			if cluster.Profile != "kip" || one.PreVote != "supported" || !one.Endpoints {
				return Unsupported("another profile than kip, or software without Pre-Vote or without endpoints")
			}
		}
	}
	_, err := v.Restart(nil, Draw{})
	return err
}

func (v *Voter) Crash(logEndOffset int64) {
	v.enter("Stopped")
	v.log, v.flushed, v.endpoints, v.highWatermark = v.log[:logEndOffset], int(logEndOffset), nil, none
}

// Restart enters the role in which a process starts from its disk.  Rules: durable.restart.*.
func (v *Voter) Restart(endpoint *string, draw Draw) ([]Object, error) {
	if endpoint != nil {
		return nil, Unsupported("another endpoint after a restart: it needs UpdateVoter")
	}
	v.begin(draw)
	v.highWatermark, v.endpoints = none, map[int64]string{}
	for _, one := range v.cluster.Replicas {
		v.endpoints[one.ID] = one.Endpoint
	}
	switch {
	case v.leader == v.key.ID:
		v.enter("Resigned")
	case v.leader == none && v.voted == v.key:
		v.enter("Candidate")
		v.count(v.key.ID, true)
	default:
		v.followOrSearch()
	}
	return v.effects(), nil
}

func (v *Voter) Observe() Object {
	awaiting := [][]int64{}
	for _, voter := range v.cluster.Voters {
		if id, waits := v.awaiting[voter.ID]; waits {
			awaiting = append(awaiting, []int64{voter.ID, id})
		}
	}
	return Object{"role": v.role, "epoch": v.epoch, "leader_id": orNull(v.leader, none),
		"leader_endpoint": orNull(v.endpoints[v.leader], ""), "voted_key": orNull(v.voted, Key{}),
		"log_end_offset": len(v.log), "high_watermark": v.highWatermark, "fetched": v.fetched, "awaiting": awaiting}
}

func (v *Voter) Step(event string, message *Message, input Input, draw Draw) ([]Object, error) {
	v.begin(draw)
	handle, isKnown := map[string]func(){
		"ElectionTimeout":                v.onElectionTimeout,
		"FetchTimeout":                   v.onFetchTimeout,
		"RequestTimeout":                 func() { delete(v.awaiting, input.Destination) },
		"Poll":                           v.onPoll,
		"PollFetch":                      func() { v.onPollFetch(input.Destination) },
		"HandleVoteRequest":              func() { v.onVoteRequest(message) },
		"HandleVoteResponse":             func() { v.onVoteResponse(message) },
		"HandleBeginQuorumEpochRequest":  func() { v.onBeginQuorumEpochRequest(message) },
		"HandleBeginQuorumEpochResponse": func() { v.onBeginQuorumEpochResponse(message) },
		"HandleFetchResponse":            func() { v.onFetchResponse(message) },
	}[event]
	if !isKnown || v.isBeyond(message) {
		return nil, Unsupported("the event " + event + ", or what it brings")
	}
	handle()
	return v.effects(), nil
}

// isBeyond tells what this voter cannot take: a log that has to be cut, or a leader that has moved.
func (v *Voter) isBeyond(message *Message) bool {
	if message == nil {
		return false
	}
	leader := message.Source
	if message.LeaderID != nil {
		leader = *message.LeaderID
	}
	hasMoved := message.LeaderEndpoint != nil && *message.LeaderEndpoint != v.endpoints[leader]
	return hasMoved || message.DivergingEpoch != nil && *message.DivergingEpoch != none
}

func (v *Voter) begin(draw Draw) {
	v.before, v.draw, v.sends, v.timers = v.disk, draw, nil, map[string]int64{}
}

// enter is the only way into a role: what belongs to the stay in the last one is forgotten.
func (v *Voter) enter(role string) {
	runsOn := role == "Unattached" && (v.role == "Unattached" || v.role == "Resigned") // the election timer
	v.role, v.answered, v.granted, v.rejected = role, map[int64]bool{}, 0, 0
	v.awaiting, v.fetched, v.timers = map[int64]int64{}, false, map[string]int64{}
	switch {
	case role == "Follower":
		v.timers["fetch"] = v.cluster.Timeouts.Fetch
	case role == "Leader" && !v.isMajority(1):
		v.timers["check-quorum"] = v.cluster.Timeouts.Fetch * 3 / 2
		v.timers["begin-quorum-epoch"] = v.cluster.Timeouts.Fetch / 2
	case role != "Leader" && !runsOn:
		v.timers["election"] = v.draw.ElectionTimeoutMS
	}
}

// effects of a step are first what has to be on disk, then what is sent, then the timers.
//
// THE POINT OF IT: nothing leaves before what it depends on is written and synced.
// Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
func (v *Voter) effects() []Object {
	effects := []Object{}
	if v.quorumState != v.before.quorumState {
		effects = append(effects, Object{"kind": "PersistQuorumState", "epoch": v.epoch, "version": 1,
			"leader_id": orNull(v.leader, none), "voted_key": orNull(v.voted, Key{})})
	}
	if written := len(v.before.log); len(v.log) > written {
		effects = append(effects, Object{"kind": "AppendRecords", "base_offset": written, "records": v.log[written:]})
	}
	if v.flushed > v.before.flushed {
		effects = append(effects, Object{"kind": "FlushLog", "end_offset": v.flushed})
	}
	effects = append(effects, v.sends...)
	for timer, duration := range v.timers {
		effects = append(effects, Object{"kind": "StartTimer", "timer": timer, "duration_ms": duration})
	}
	return effects
}

func orNull[T comparable](value, null T) any {
	if value == null {
		return nil
	}
	return value
}

func (v *Voter) send(kind string, destination, correlationID int64, fields Object) {
	fields["type"], fields["source"], fields["destination"] = kind, v.key.ID, destination
	fields["correlation_id"], fields["epoch"] = correlationID, v.epoch
	v.sends = append(v.sends, Object{"kind": "Send", "message": fields})
}

// ask sends a request, which awaits its answer.
func (v *Voter) ask(kind string, receiver int64, fields Object) {
	v.awaiting[receiver], fields["cluster_id"] = v.draw.CorrelationID, v.cluster.ID
	v.send(kind, receiver, v.draw.CorrelationID, fields)
}

// answer says, with the fields of the response, what this voter knows after the request.
func (v *Voter) answer(request *Message, kind, err string, fields Object) {
	fields["error"], fields["leader_id"] = err, orNull(v.leader, none)
	fields["leader_endpoint"] = orNull(v.endpoints[v.leader], "")
	v.send(kind, request.Source, request.CorrelationID, fields)
}
