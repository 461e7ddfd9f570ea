package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

const none = int64(-1) // no leader, no offset

type disk struct { // what survives a crash
	epoch, leader int64
	voted         Key
	log           []Record
	flushed       int
}

// Voter is a minimal one, there so that the adapter can be seen working: elections, the announcement of a leader, and
// the Fetch of a Follower, with voters that never change.
type Voter struct {
	key       Key
	endpoint  string
	cluster   *Cluster
	formatted Record

	disk           // what it will be at the end of the step
	onDisk         disk
	role           string
	leaderEndpoint *string
	highWatermark  int64

	// Of one stay in a role.
	granted, rejected, acknowledged map[int64]bool
	fetched                         bool            // Follower: a Fetch succeeded
	awaiting                        map[int64]int64 // receiver of a request to its correlation id

	// Of one step.
	draw       Draw
	sends      []Object
	timers     map[string]int64
	roleBefore string
	entered    bool
}

// MarshalJSON writes a directory id that is not known as null.
func (key Key) MarshalJSON() ([]byte, error) {
	if key.DirectoryID == "" {
		return json.Marshal(Object{"id": key.ID, "directory_id": nil})
	}
	return json.Marshal(Object{"id": key.ID, "directory_id": key.DirectoryID})
}

func (v *Voter) Hello() Object {
	return Object{
		"implementation": Object{"name": "minimal-voter-go", "version": "1"},
		"kip_levels":     Object{"KIP-595": "partial", "KIP-996": "full", "KIP-853": "partial"},
		"kraft_versions": []int{1},
		"profile":        "kip",
		"observability":  "state",
		"unsupported": []string{"observers", "crash-in-step", "snapshots", "disk-replacement", "voter-changes",
			"append-voters", "auto-join", "kraft-version-upgrade", "quorum-reassignment"},
	}
}

func (v *Voter) Reset(id int64, cluster *Cluster) error {
	if cluster.Profile != "kip" {
		return Unsupported("the profile " + cluster.Profile)
	}
	*v = Voter{cluster: cluster, highWatermark: none, disk: disk{leader: none}}
	voters := cluster.Voters
	for _, one := range cluster.Replicas {
		if one.ID == id {
			if one.PreVote != "supported" || !one.Endpoints {
				return Unsupported("software without Pre-Vote or without endpoints")
			}
			v.key, v.endpoint = one.Key, one.Endpoint
			if one.InitialVoters != nil {
				voters = *one.InitialVoters
			}
		}
	}
	v.formatted = Record{Kind: "Voters", Voters: voters}
	hasNoServers := len(cluster.BootstrapServers) == 0
	for _, one := range cluster.Replicas {
		if slices.ContainsFunc(voters, func(voter Key) bool { return voter.ID == one.ID }) {
			detail := Detail{one.ID, &one.Endpoint, 0, 1}
			if one.MinVersion != nil && one.MaxVersion != nil {
				detail.MinVersion, detail.MaxVersion = *one.MinVersion, *one.MaxVersion
			}
			v.formatted.Details = append(v.formatted.Details, detail)
			if hasNoServers {
				cluster.BootstrapServers = append(cluster.BootstrapServers, one.ID)
			}
		}
	}
	v.onDisk = v.disk
	_, err := v.Restart(nil, Draw{})
	return err
}

func (v *Voter) Crash(logEndOffset int64) error {
	if v.cluster == nil {
		return errors.New("there was no reset yet")
	}
	kept := v.onDisk
	if logEndOffset < 0 || int(logEndOffset) > len(kept.log) {
		return fmt.Errorf("a log that ends at %d cannot keep %d records", len(kept.log), logEndOffset)
	}
	kept.log = slices.Clone(kept.log[:logEndOffset])
	kept.flushed = len(kept.log)
	*v = Voter{key: v.key, endpoint: v.endpoint, cluster: v.cluster, formatted: v.formatted,
		highWatermark: none, disk: kept, onDisk: kept}
	return nil
}

// Restart enters the role in which a process starts from its disk.  Rules: durable.restart.*.
func (v *Voter) Restart(endpoint *string, draw Draw) (Step, error) {
	if endpoint != nil {
		return Step{}, Unsupported("another endpoint after a restart: it needs UpdateVoter")
	}
	v.begin(draw)
	switch {
	case v.role != "":
		return v.finish("RUNNING"), nil
	case v.lastEpoch() > v.epoch: // the file was lost, and with it perhaps a vote
		v.enter("Unattached", v.lastEpoch(), none, nil, v.key)
	case v.leader == v.key.ID:
		v.enter("Resigned", v.epoch, v.leader, &v.endpoint, v.voted)
	case v.leader != none:
		v.follow(v.epoch, v.leader, nil)
	case v.voted == v.key && v.key != Key{}:
		v.startCandidacy(v.epoch)
	default:
		v.enter("Unattached", v.epoch, none, nil, v.voted)
	}
	return v.finish(""), nil
}

func (v *Voter) Observe() (Object, error) {
	if v.cluster == nil {
		return nil, errors.New("there was no reset yet")
	}
	offset, set := v.voters()
	awaiting, role := [][]int64{}, v.role
	for receiver, correlationID := range v.awaiting {
		awaiting = append(awaiting, []int64{receiver, correlationID})
	}
	slices.SortFunc(awaiting, slices.Compare)
	if role == "" {
		role = "Stopped"
	}
	return Object{"replica_key": v.key, "role": role, "epoch": v.epoch, "leader_id": orNull(v.leader),
		"leader_endpoint": v.leaderEndpoint, "voted_key": v.votedOrNull(), "log_end_offset": len(v.log),
		"last_epoch": v.lastEpoch(), "flushed_offset": v.flushed, "kraft_version": 1, "quorum_state_version": 1,
		"voters":  Object{"offset": offset, "voters": set.Voters, "target": nil},
		"granted": ids(v.granted), "rejected": ids(v.rejected), "acknowledged": ids(v.acknowledged),
		"fetched": v.fetched, "awaiting": awaiting, "high_watermark": v.highWatermark,
		"fetchers": []int64{}, "fetch_offsets": []int64{}}, nil
}

func ids(set map[int64]bool) []int64 {
	listed := []int64{}
	for id := range set {
		listed = append(listed, id)
	}
	slices.Sort(listed)
	return listed
}

// Step lets a handler say why an event changed nothing.
func (v *Voter) Step(event string, message *Message, input Input, draw Draw) (Step, error) {
	if v.cluster == nil {
		return Step{}, errors.New("there was no reset yet")
	}
	v.begin(draw)
	messages := map[string]func(*Message) string{
		"HandleVoteRequest":              v.onVoteRequest,
		"HandleVoteResponse":             v.onVoteResponse,
		"HandleBeginQuorumEpochRequest":  v.onBeginQuorumEpochRequest,
		"HandleBeginQuorumEpochResponse": v.onBeginQuorumEpochResponse,
		"HandleFetchResponse":            v.onFetchResponse,
	}
	events := map[string]func() string{
		"ElectionTimeout": v.onElectionTimeout,
		"FetchTimeout":    v.onFetchTimeout,
		"Poll":            v.onPoll,
		"PollFetch":       func() string { return v.onPollFetch(input.Destination) },
		"RequestTimeout":  func() string { return v.onRequestTimeout(input.Destination) },
	}
	if v.role == "" {
		return v.finish("NOT_RUNNING"), nil
	}
	if handle, isEvent := events[event]; isEvent {
		return v.finish(handle()), nil
	}
	handle, isMessage := messages[event]
	switch {
	case !isMessage || message != nil && message.isDiverging():
		return Step{}, Unsupported("the event " + event)
	case message == nil:
		return Step{}, fmt.Errorf("%s without a message", event)
	}
	return v.finish(handle(message)), nil
}

// enter is the only way into a role: what belongs to the stay in the last one is forgotten.
func (v *Voter) enter(role string, epoch, leader int64, endpoint *string, voted Key) {
	v.role, v.epoch, v.leader, v.leaderEndpoint, v.voted = role, epoch, leader, endpoint, voted
	v.granted, v.rejected, v.acknowledged = map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	v.awaiting, v.fetched, v.entered = map[int64]int64{}, false, true
}

func (v *Voter) begin(draw Draw) {
	v.draw, v.sends, v.timers, v.roleBefore, v.entered = draw, nil, map[string]int64{}, v.role, false
}

// finish gives the effects of a step: first what has to be on disk, then what is sent, then the timers.
//
// THE POINT OF IT: nothing leaves before what it depends on is written and synced.
// Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
func (v *Voter) finish(refusal string) Step {
	var effects []Object
	if v.epoch != v.onDisk.epoch || v.leader != v.onDisk.leader || v.voted != v.onDisk.voted {
		effects = append(effects, Object{"kind": "PersistQuorumState", "epoch": v.epoch,
			"leader_id": orNull(v.leader), "voted_key": v.votedOrNull(), "version": 1})
	}
	if written := len(v.onDisk.log); len(v.log) > written {
		effects = append(effects, Object{"kind": "AppendRecords", "base_offset": written,
			"records": v.log[written:]})
	}
	if v.flushed > v.onDisk.flushed {
		effects = append(effects, Object{"kind": "FlushLog", "end_offset": v.flushed})
	}
	v.onDisk = v.disk
	v.onDisk.log = slices.Clone(v.log)
	effects = append(effects, v.sends...)
	if v.entered {
		v.startTimersOfRole()
	}
	for _, timer := range []string{"election", "fetch", "check-quorum", "begin-quorum-epoch"} {
		if duration, started := v.timers[timer]; started {
			effects = append(effects, Object{"kind": "StartTimer", "timer": timer, "duration_ms": duration})
		}
	}
	return Step{effects, refusal}
}

// startTimersOfRole starts those that a role begins with, if the step has not; one that runs on is not started.
func (v *Voter) startTimersOfRole() {
	start := func(timer string, duration int64) {
		if _, started := v.timers[timer]; !started {
			v.timers[timer] = duration
		}
	}
	switch {
	case v.role == "Follower":
		start("fetch", v.cluster.Timeouts.Fetch)
	case v.role == "Leader" && len(v.otherVoters()) > 0:
		start("check-quorum", v.cluster.Timeouts.Fetch*3/2)
		start("begin-quorum-epoch", v.cluster.Timeouts.Fetch/2)
	case v.role == "Leader" || v.role == "Unattached" && (v.roleBefore == "Unattached" || v.roleBefore == "Resigned"):
	default:
		start("election", v.draw.ElectionTimeoutMS)
	}
}

func orNull(id int64) any {
	if id == none {
		return nil
	}
	return id
}

func (v *Voter) votedOrNull() any {
	if v.voted == (Key{}) {
		return nil
	}
	return v.voted
}

func (v *Voter) send(kind string, destination, correlationID int64, fields Object) {
	fields["type"], fields["source"], fields["destination"] = kind, v.key.ID, destination
	fields["correlation_id"] = correlationID
	v.sends = append(v.sends, Object{"kind": "Send", "message": fields})
}

// ask sends a request, which awaits its answer.
func (v *Voter) ask(kind string, receiver int64, fields Object) {
	v.awaiting[receiver] = v.draw.CorrelationID
	fields["epoch"], fields["cluster_id"] = v.epoch, v.cluster.ID
	v.send(kind, receiver, v.draw.CorrelationID, fields)
}

// answer says, with the fields of the response, what this voter knows after the request.
func (v *Voter) answer(request *Message, kind, err string, fields Object) {
	fields["error"], fields["epoch"] = err, v.epoch
	fields["leader_id"], fields["leader_endpoint"] = orNull(v.leader), v.leaderEndpoint
	v.send(kind, request.Source, request.CorrelationID, fields)
}
