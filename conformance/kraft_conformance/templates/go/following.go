package main

import "slices"

func (v *Voter) lastEpoch() int64 {
	if len(v.log) == 0 {
		return 0
	}
	return v.log[len(v.log)-1].Epoch
}

// becomeLeader puts the start of its epoch into the log.  Rules: state.candidate.to-leader, state.leader.first-leader.
func (v *Voter) becomeLeader() {
	offset, _ := v.voters()
	v.enter("Leader", v.epoch, v.key.ID, &v.endpoint, v.voted)
	v.append(Record{Kind: "LeaderChange", Value: v.key.ID})
	if offset < 0 { // rule: bootstrap.first-leader-writes-records
		v.append(Record{Kind: "KRaftVersion", Value: 1})
		v.append(v.formatted)
	}
}

// append adds to the Leader's log, which is synced before it counts itself.
func (v *Voter) append(record Record) {
	record.Epoch = v.epoch
	v.log = append(v.log, record)
	v.flushed = len(v.log)
	if v.isMajority(1) {
		v.highWatermark = int64(len(v.log))
	}
}

// onBeginQuorumEpochRequest learns that the sender leads, then answers; the key only decides the answer.
func (v *Voter) onBeginQuorumEpochRequest(request *Message) string {
	err, refusal := "NONE", ""
	switch {
	case v.isForeign(request):
		err, refusal = "INCONSISTENT_CLUSTER_ID", "FOREIGN_CLUSTER"
	case request.Epoch < v.epoch:
		err, refusal = "FENCED_LEADER_EPOCH", "STALE_EPOCH"
	case v.namesSecondLeader(request.Epoch, &request.Source):
		err, refusal = "INVALID_REQUEST", "SECOND_LEADER_IN_EPOCH"
	case request.Epoch == v.epoch && v.leader == request.Source && v.role == "Prospective":
		// The leader that it gave up on is there after all.  Rule: state.prospective.discovers-leader.
		endpoint := request.LeaderEndpoint
		if endpoint == nil {
			endpoint = v.leaderEndpoint
		}
		v.follow(v.epoch, v.leader, endpoint)
	default:
		v.learn(request.Epoch, &request.Source, request.LeaderEndpoint)
	}
	if refusal == "" && !v.isAddressed(request.VoterKey) {
		err = "INVALID_REQUEST"
	}
	v.answer(request, "BeginQuorumEpochResponse", err, Object{})
	return refusal
}

func (v *Voter) onBeginQuorumEpochResponse(response *Message) string {
	if refusal, over := v.isOver(response); over {
		return refusal
	}
	if response.Error != "NONE" {
		return "ERROR_RESPONSE"
	}
	v.acknowledged[response.Source] = true
	return ""
}

// onPollFetch asks for everything after the own log, which is synced first.  Rule: durable.flush-before-fetch.
func (v *Voter) onPollFetch(destination int64) string {
	due := v.role == "Follower" && v.leader == destination ||
		v.role == "Unattached" && destination != v.key.ID && slices.Contains(v.cluster.BootstrapServers, destination)
	if !due || len(v.awaiting) > 0 {
		return "NOTHING_DUE"
	}
	v.flushed = len(v.log)
	v.ask("FetchRequest", destination, Object{"replica_key": v.key, "fetch_offset": len(v.log),
		"last_epoch": v.lastEpoch()})
	return ""
}

// onFetchResponse takes data only as Follower of that leader in that epoch.  Rule: fetch.response.common.
func (v *Voter) onFetchResponse(response *Message) string {
	epochBefore := v.epoch
	refusal, over := v.isOver(response)
	follows := v.epoch == epochBefore && v.role == "Follower" && v.leader == response.Source
	switch {
	case refusal != "" || over && !(follows && response.Error == "NONE"):
		return refusal
	case response.Error != "NONE":
		return "ERROR_RESPONSE"
	case !follows:
		return "NOT_FOLLOWER_OF_SENDER"
	}
	v.log = append(v.log, response.Records...)
	v.highWatermark = max(v.highWatermark, min(response.HighWatermark, int64(len(v.log))))
	v.fetched = true
	v.timers["fetch"] = v.cluster.Timeouts.Fetch
	return ""
}

// isDiverging tells what a Follower here cannot take: its log has to be cut, or a snapshot to be fetched.
func (message *Message) isDiverging() bool {
	return message.DivergingEpoch != nil && *message.DivergingEpoch >= 0 || message.SnapshotEndOffset > 0
}
