package main

func (v *Voter) isMajority(number int) bool { return 2*number > len(v.cluster.Voters) }

func (v *Voter) canStillWin() bool { return v.isMajority(len(v.cluster.Voters) - v.rejected) }

// isNamed tells whether a key is that of this voter, as far as it says.
func (v *Voter) isNamed(key *Key) bool {
	return key == nil || key.ID == v.key.ID && (key.DirectoryID == nil || key.DirectoryID == v.key.DirectoryID)
}

// refusal is the error that a request is refused with, in the order of prevote.request.check-order, or NONE.
func (v *Voter) refusal(request *Message, isMalformed bool) string {
	switch {
	case request.ClusterID != nil && *request.ClusterID != v.cluster.ID:
		return "INCONSISTENT_CLUSTER_ID"
	case isMalformed:
		return "INVALID_REQUEST"
	case request.Epoch < v.epoch:
		return "FENCED_LEADER_EPOCH"
	}
	return "NONE"
}

// learn takes what any message teaches: a larger epoch, or the leader of the own one.  True if there was something.
// Rules: state.learn-higher-epoch.*, state.unattached.leader, state.candidate.leader-equal-epoch.
func (v *Voter) learn(epoch int64, leader *int64) bool {
	isLater := epoch > v.epoch
	if isLater {
		v.epoch, v.leader, v.voted = epoch, none, Key{}
	}
	isNews := epoch == v.epoch && v.leader == none && leader != nil && *leader != v.key.ID
	if isNews {
		v.leader = *leader
	}
	if isLater || isNews {
		v.followOrSearch()
	}
	return isLater || isNews
}

// followOrSearch makes a Follower of the known leader, or Unattached, which looks for one.
func (v *Voter) followOrSearch() {
	if v.leader == none {
		v.enter("Unattached")
	} else {
		v.enter("Follower")
	}
}

// isOver tells whether there is nothing more in a response: nobody waits for it, or it taught an epoch or a leader.
func (v *Voter) isOver(response *Message) bool {
	if id, waits := v.awaiting[response.Source]; !waits || id != response.CorrelationID {
		return true
	}
	delete(v.awaiting, response.Source)
	return response.Error == "INCONSISTENT_CLUSTER_ID" || response.Epoch < v.epoch ||
		v.learn(response.Epoch, response.LeaderID)
}

func (v *Voter) onElectionTimeout() {
	switch v.role {
	case "Unattached", "Candidate":
		v.nominate()
	case "Prospective":
		v.followOrSearch()
	case "Resigned": // what is left of a timer that has fired is nothing: state.resigned.timer-handover
		v.learn(v.epoch+1, nil)
		v.timers["election"] = 0
	}
}

func (v *Voter) onFetchTimeout() {
	if v.role == "Follower" {
		v.nominate()
	}
}

// nominate begins a Pre-Vote round with the own grant; a sole voter passes on at once.
func (v *Voter) nominate() {
	v.enter("Prospective")
	v.count(v.key.ID, true)
}

// becomeCandidate takes the next epoch, a vote for itself, and a log that no crash shortens: state.candidate.entry.
func (v *Voter) becomeCandidate() {
	v.flushed = len(v.log)
	v.epoch, v.leader, v.voted = v.epoch+1, none, v.key
	v.enter("Candidate")
	v.count(v.key.ID, true)
}

// count is won, lost or still open; each voter counts once.  Rules: prevote.response.majority, vote.response.counting.
func (v *Voter) count(voter int64, grants bool) {
	if v.answered[voter] {
		return
	}
	couldWin := v.canStillWin()
	v.answered[voter] = true
	if grants {
		v.granted++
	} else {
		v.rejected++
	}
	switch isWon := v.isMajority(v.granted); {
	case isWon && v.role == "Prospective":
		v.becomeCandidate()
	case isWon:
		v.becomeLeader()
	case !v.canStillWin() && v.role == "Prospective":
		v.followOrSearch()
	case !v.canStillWin() && couldWin: // rule: state.candidate.lost
		v.timers["election"] = v.draw.ElectionBackoffMS
	}
}

// onPoll sends one request on each idle connection to a voter that has not answered yet.
func (v *Voter) onPoll() {
	for _, voter := range v.cluster.Voters {
		_, isBusy := v.awaiting[voter.ID]
		switch {
		case isBusy || v.answered[voter.ID] || voter == v.key:
		case v.role == "Leader":
			v.ask("BeginQuorumEpochRequest", voter.ID,
				Object{"voter_key": voter, "leader_endpoint": v.endpoints[v.key.ID]})
		case (v.role == "Prospective" || v.role == "Candidate") && v.canStillWin():
			v.ask("VoteRequest", voter.ID, Object{"replica_key": v.key, "voter_key": voter,
				"last_epoch": v.lastEpoch(), "end_offset": len(v.log), "pre_vote": v.role == "Prospective"})
		}
	}
}

func (v *Voter) onVoteRequest(request *Message) {
	granted := false
	err := v.refusal(request, min(request.Epoch, request.LastEpoch, request.EndOffset) < 0 ||
		request.LastEpoch > request.Epoch || !request.PreVote && request.LastEpoch == request.Epoch)
	if err == "NONE" {
		v.learn(request.Epoch, nil)
		if v.isNamed(request.VoterKey) {
			granted = v.grants(request)
		} else {
			err = "INVALID_REQUEST"
		}
	}
	v.answer(request, "VoteResponse", err, Object{"granted": granted, "pre_vote": request.PreVote})
}

// grants casts the one vote of the epoch, if that is asked for.
// Rules: vote.decision-order, vote.once-per-epoch, vote.grant.*.
func (v *Voter) grants(request *Message) bool {
	isGood := request.LastEpoch > v.lastEpoch() ||
		request.LastEpoch == v.lastEpoch() && request.EndOffset >= int64(len(v.log))
	switch {
	case request.PreVote:
		return isGood && v.role != "Leader" && !v.fetched
	case v.role != "Unattached" && v.role != "Prospective":
		return false
	case v.voted != Key{}:
		return v.voted == request.ReplicaKey
	case !isGood || v.leader != none:
		return false
	case v.role == "Prospective": // it starts its round over
		v.nominate()
	}
	v.voted = request.ReplicaKey
	v.timers["election"] = v.draw.ElectionTimeoutMS
	return true
}

// onVoteResponse counts; who knows no Pre-Vote answers as if asked for a vote, or not at all.
func (v *Voter) onVoteResponse(response *Message) {
	isOld := response.Error == "UNSUPPORTED_VERSION"
	if isOld {
		response.Epoch = v.epoch
	}
	switch {
	case v.isOver(response):
	case v.role == "Prospective" && (isOld || !response.PreVote):
		v.becomeCandidate()
	case response.Error == "NONE" && (v.role == "Prospective" || v.role == "Candidate"):
		v.count(response.Source, response.Granted)
	}
}
