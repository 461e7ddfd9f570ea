----------------------------      MODULE RoleTable      ----------------------------
(***************************************************************************)
(* Generated from kraft_reference.roles (kraft_spec.role_table): the role  *)
(* of a replica before and after one step that changes it.                 *)
(***************************************************************************)
RoleChanges == {
   <<"Candidate", "Follower">>,
   <<"Candidate", "Leader">>,
   <<"Candidate", "Prospective">>,
   <<"Candidate", "Stopped">>,
   <<"Candidate", "Unattached">>,
   <<"Follower", "Candidate">>,
   <<"Follower", "Leader">>,
   <<"Follower", "Prospective">>,
   <<"Follower", "Stopped">>,
   <<"Follower", "Unattached">>,
   <<"Leader", "Follower">>,
   <<"Leader", "Resigned">>,
   <<"Leader", "Stopped">>,
   <<"Leader", "Unattached">>,
   <<"Prospective", "Candidate">>,
   <<"Prospective", "Follower">>,
   <<"Prospective", "Stopped">>,
   <<"Prospective", "Unattached">>,
   <<"Resigned", "Candidate">>,
   <<"Resigned", "Follower">>,
   <<"Resigned", "Leader">>,
   <<"Resigned", "Stopped">>,
   <<"Resigned", "Unattached">>,
   <<"Stopped", "Candidate">>,
   <<"Stopped", "Follower">>,
   <<"Stopped", "Leader">>,
   <<"Stopped", "Prospective">>,
   <<"Stopped", "Resigned">>,
   <<"Stopped", "Unattached">>,
   <<"Unattached", "Candidate">>,
   <<"Unattached", "Follower">>,
   <<"Unattached", "Leader">>,
   <<"Unattached", "Prospective">>,
   <<"Unattached", "Stopped">>}
=============================================================================
