package voter;

/** The roles of a replica, named as they are shown. */
enum Role { Stopped, Unattached, Prospective, Candidate, Leader, Follower, Resigned }
