package main

import "slices"

// voters is the newest set in the log, committed or not, with its offset, else the one that the disk was formatted with.
func (v *Voter) voters() (int, Record) {
	for offset := len(v.log) - 1; offset >= 0; offset-- {
		if v.log[offset].Kind == "Voters" {
			return offset, v.log[offset]
		}
	}
	return -1, v.formatted
}

func (v *Voter) voterKeys() []Key {
	_, set := v.voters()
	return set.Voters
}

func (v *Voter) otherVoters() []Key {
	return slices.DeleteFunc(slices.Clone(v.voterKeys()), func(voter Key) bool { return voter == v.key })
}

func (v *Voter) isMajority(number int) bool { return 2*number > len(v.voterKeys()) }

func (v *Voter) canStillWin() bool { return v.isMajority(len(v.voterKeys()) - len(v.rejected)) }

// isAddressed tells whether a request names this voter as its receiver, as far as it names one.
func (v *Voter) isAddressed(receiver *Key) bool {
	return receiver == nil ||
		receiver.ID == v.key.ID && (receiver.DirectoryID == "" || receiver.DirectoryID == v.key.DirectoryID)
}

func (v *Voter) isForeign(request *Message) bool {
	return request.ClusterID != nil && *request.ClusterID != v.cluster.ID
}

// follow makes a Follower of a leader, or Unattached that remembers it while nobody says where it listens.
func (v *Voter) follow(epoch, leader int64, endpoint *string) {
	_, set := v.voters()
	for _, detail := range set.Details {
		if endpoint == nil && detail.ID == leader {
			endpoint = detail.Endpoint
		}
	}
	role, voted := "Unattached", Key{}
	if endpoint != nil {
		role = "Follower"
	}
	if epoch == v.epoch {
		voted = v.voted
	}
	v.enter(role, epoch, leader, endpoint, voted)
}

// learn takes what any message teaches: a larger epoch, or the leader of the own one.  True if there was something.
// Rules: state.learn-higher-epoch.*, state.unattached.leader, state.candidate.leader-equal-epoch.
func (v *Voter) learn(epoch int64, leader *int64, endpoint *string) bool {
	named := leader != nil && *leader != v.key.ID
	switch {
	case epoch > v.epoch && named:
		v.follow(epoch, *leader, endpoint)
	case epoch > v.epoch:
		v.enter("Unattached", epoch, none, nil, Key{})
	case epoch == v.epoch && named && (v.leader == none ||
		v.leader == *leader && v.role == "Unattached" && endpoint != nil):
		v.follow(epoch, *leader, endpoint)
	default:
		return false
	}
	return true
}

func (v *Voter) namesSecondLeader(epoch int64, leader *int64) bool {
	return epoch == v.epoch && leader != nil && v.leader != none && v.leader != *leader
}

// isOver takes what all responses have in common: correlation, then epoch and leader.  The reason, if it has ended
// there without an effect; true if there is nothing more to do.
func (v *Voter) isOver(response *Message) (string, bool) {
	if id, waits := v.awaiting[response.Source]; !waits || id != response.CorrelationID {
		return "UNCORRELATED_RESPONSE", true
	}
	delete(v.awaiting, response.Source)
	switch {
	case response.Error == "UNSUPPORTED_VERSION":
		return "", false
	case response.Error == "INCONSISTENT_CLUSTER_ID":
		return "ERROR_RESPONSE", true
	case response.Epoch < v.epoch:
		return "STALE_EPOCH", true
	case v.namesSecondLeader(response.Epoch, response.LeaderID):
		return "SECOND_LEADER_IN_EPOCH", true
	}
	return "", v.learn(response.Epoch, response.LeaderID, response.LeaderEndpoint)
}

func (v *Voter) onElectionTimeout() string {
	switch v.role {
	case "Unattached", "Candidate":
		v.nominate()
	case "Prospective":
		v.losePreVote()
	case "Resigned": // what is left of a timer that has fired is nothing: state.resigned.timer-handover
		v.enter("Unattached", v.epoch+1, none, nil, Key{})
		v.timers["election"] = 0
	default:
		return "NOT_IN_ROLE"
	}
	return ""
}

func (v *Voter) onFetchTimeout() string {
	if v.role != "Follower" {
		return "NOT_IN_ROLE"
	}
	v.nominate()
	return ""
}

func (v *Voter) onRequestTimeout(destination int64) string {
	if _, waits := v.awaiting[destination]; !waits {
		return "NOTHING_DUE"
	}
	delete(v.awaiting, destination)
	return ""
}

// nominate begins a Pre-Vote round with the own grant; a sole voter passes on at once.
func (v *Voter) nominate() {
	v.enter("Prospective", v.epoch, v.leader, v.leaderEndpoint, v.voted)
	v.count(v.key.ID, true)
}

// losePreVote goes back to the known leader, or to look for one.
func (v *Voter) losePreVote() {
	if v.leader != none && v.leaderEndpoint != nil {
		v.enter("Follower", v.epoch, v.leader, v.leaderEndpoint, v.voted)
	} else {
		v.enter("Unattached", v.epoch, v.leader, nil, v.voted)
	}
}

// becomeCandidate takes the next epoch, a vote for itself, and a log that no crash shortens: state.candidate.entry.
func (v *Voter) becomeCandidate() {
	v.flushed = len(v.log)
	v.startCandidacy(v.epoch + 1)
}

func (v *Voter) startCandidacy(epoch int64) {
	v.enter("Candidate", epoch, none, nil, v.key)
	v.count(v.key.ID, true)
}

// count is won, lost or still open; each voter counts once.  Rules: prevote.response.majority, vote.response.counting.
func (v *Voter) count(voter int64, granted bool) {
	couldWin := v.canStillWin()
	isVoter := slices.ContainsFunc(v.voterKeys(), func(key Key) bool { return key.ID == voter })
	if isVoter && !v.granted[voter] && !v.rejected[voter] {
		if granted {
			v.granted[voter] = true
		} else {
			v.rejected[voter] = true
		}
	}
	won := v.isMajority(len(v.granted))
	switch {
	case won && v.role == "Prospective":
		v.becomeCandidate()
	case won:
		v.becomeLeader()
	case !v.canStillWin() && v.role == "Prospective":
		v.losePreVote()
	case !v.canStillWin() && couldWin: // rule: state.candidate.lost
		v.timers["election"] = v.draw.ElectionBackoffMS
	}
}

// onPoll sends one request on each idle connection to a voter that something is due to.
func (v *Voter) onPoll() string {
	refusal := "NOTHING_DUE"
	for _, voter := range v.otherVoters() {
		if _, busy := v.awaiting[voter.ID]; busy {
			continue
		}
		switch {
		case v.role == "Prospective" || v.role == "Candidate":
			if v.granted[voter.ID] || v.rejected[voter.ID] || !v.canStillWin() {
				continue
			}
			v.ask("VoteRequest", voter.ID, Object{"replica_key": v.key, "voter_key": voter,
				"last_epoch": v.lastEpoch(), "end_offset": len(v.log), "pre_vote": v.role == "Prospective"})
		case v.role == "Leader" && !v.acknowledged[voter.ID]:
			v.ask("BeginQuorumEpochRequest", voter.ID, Object{"voter_key": voter,
				"leader_endpoint": v.leaderEndpoint})
		default:
			continue
		}
		refusal = ""
	}
	return refusal
}

// onVoteRequest checks in the order of prevote.request.check-order and vote.decision-order.
func (v *Voter) onVoteRequest(request *Message) string {
	reply := func(granted bool, err string) {
		v.answer(request, "VoteResponse", err, Object{"granted": granted, "pre_vote": request.PreVote})
	}
	switch {
	case v.isForeign(request):
		reply(false, "INCONSISTENT_CLUSTER_ID")
		return "FOREIGN_CLUSTER"
	case min(request.Epoch, request.LastEpoch, request.EndOffset) < 0 || request.LastEpoch > request.Epoch ||
		!request.PreVote && request.LastEpoch == request.Epoch:
		reply(false, "INVALID_REQUEST")
		return "MALFORMED_REQUEST"
	case request.Epoch < v.epoch:
		reply(false, "FENCED_LEADER_EPOCH")
		return "STALE_EPOCH"
	case request.Epoch > v.epoch:
		v.enter("Unattached", request.Epoch, none, nil, Key{})
	}
	if !v.isAddressed(request.VoterKey) {
		reply(false, "INVALID_REQUEST")
		return ""
	}
	granted := request.LastEpoch > v.lastEpoch() ||
		request.LastEpoch == v.lastEpoch() && request.EndOffset >= int64(len(v.log))
	switch {
	case request.PreVote:
		granted = granted && v.role != "Leader" && !(v.role == "Follower" && v.fetched)
	case v.role != "Unattached" && v.role != "Prospective":
		granted = false
	case v.voted != Key{}:
		granted = v.voted == request.ReplicaKey
	default:
		granted = granted && v.leader == none
		if granted {
			v.castVote(request.ReplicaKey)
		}
	}
	reply(granted, "NONE")
	return ""
}

// castVote gives the one vote of the epoch; a Prospective starts its round over.  Rules: vote.once-per-epoch, vote.grant.*.
func (v *Voter) castVote(requester Key) {
	if v.role == "Prospective" {
		v.enter("Prospective", v.epoch, v.leader, v.leaderEndpoint, Key{})
		v.granted[v.key.ID] = true
	}
	v.voted = requester
	v.timers["election"] = v.draw.ElectionTimeoutMS
}

// onVoteResponse checks support for Pre-Vote after epoch and leader, and then counts.
func (v *Voter) onVoteResponse(response *Message) string {
	if refusal, over := v.isOver(response); over {
		return refusal
	}
	switch {
	case response.Error == "UNSUPPORTED_VERSION" && v.role != "Prospective":
		return "NO_PRE_VOTE_ROUND"
	case v.role == "Prospective" && (response.Error == "UNSUPPORTED_VERSION" || !response.PreVote):
		v.becomeCandidate()
	case response.Error != "NONE":
		return "ERROR_RESPONSE"
	case v.role != "Prospective" && v.role != "Candidate":
		return "ELECTION_IS_OVER"
	default:
		v.count(response.Source, response.Granted)
	}
	return ""
}
