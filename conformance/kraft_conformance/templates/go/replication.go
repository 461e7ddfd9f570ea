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
	v.leader = v.key.ID
	v.enter("Leader")
	v.log = append(v.log, Record{Epoch: v.epoch, Kind: "LeaderChange", Value: v.key.ID})
	if len(v.log) == 1 { // rule: bootstrap.first-leader-writes-records
		v.log = append(v.log, Record{Epoch: v.epoch, Kind: "KRaftVersion", Value: 1},
			Record{Epoch: v.epoch, Kind: "Voters", Voters: v.cluster.Voters})
	}
	v.flushed = len(v.log)
	if v.isMajority(1) {
		v.highWatermark = int64(len(v.log))
	}
}

// onBeginQuorumEpochRequest learns that the sender leads, then answers; the key only decides the answer.
func (v *Voter) onBeginQuorumEpochRequest(request *Message) {
	err := v.refusal(request, false)
	if err == "NONE" {
		if v.learn(request.Epoch, &request.Source); v.role == "Prospective" {
			v.enter("Follower") // the leader that it gave up on is there after all: state.prospective.discovers-leader
		}
		if !v.isNamed(request.VoterKey) {
			err = "INVALID_REQUEST"
		}
	}
	v.answer(request, "BeginQuorumEpochResponse", err, Object{})
}

func (v *Voter) onBeginQuorumEpochResponse(response *Message) {
	if !v.isOver(response) && response.Error == "NONE" {
		v.answered[response.Source] = true
	}
}

// onPollFetch asks for everything after the own log, which is synced first.  Rule: durable.flush-before-fetch.
func (v *Voter) onPollFetch(destination int64) {
	servers := v.cluster.BootstrapServers
	isServer := destination != v.key.ID && (len(servers) == 0 || slices.Contains(servers, destination))
	isDue := v.role == "Follower" && v.leader == destination || v.role == "Unattached" && isServer
	if isDue && len(v.awaiting) == 0 {
		v.flushed = len(v.log)
		v.ask("FetchRequest", destination, Object{"replica_key": v.key, "fetch_offset": len(v.log),
			"last_epoch": v.lastEpoch()})
	}
}

// onFetchResponse takes data only as Follower of that leader in that epoch.  Rule: fetch.response.common.
func (v *Voter) onFetchResponse(response *Message) {
	if v.isOver(response) || response.Error != "NONE" || v.role != "Follower" || v.leader != response.Source {
		return
	}
	v.log = append(v.log, response.Records...)
	v.highWatermark = max(v.highWatermark, min(response.HighWatermark, int64(len(v.log))))
	v.fetched = true
	v.timers["fetch"] = v.cluster.Timeouts.Fetch
}
