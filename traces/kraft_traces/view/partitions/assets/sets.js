// Replicas of a partition as marks, with a word or a sign for each color.

// Marks of each replica of R, in order.
function replicaMarks({ partition, dead }) {
  return (partition?.replicas ?? []).map((id) => {
    const adding = partition.adding.includes(id), removing = partition.removing.includes(id);
    const inSync = partition.in_sync.includes(id), leads = partition.leader === id, isDead = dead.includes(id);
    const words = [`broker ${id}`, leads && "leader", inSync ? "in sync" : "not in sync", adding && "adding", removing && "removing", isDead && "dead"];
    const names = ["replica-mark", inSync ? "in-sync" : "behind", leads && "leads", isDead && "dead"].filter(Boolean).join(" ");
    return { text: `${isDead ? "×" : ""}${adding ? "+" : ""}${removing ? "−" : ""}${id}`, names, words: words.filter(Boolean).join(", ") };
  });
}

function replicaChips(shows) {
  const list = element("ol", { className: "replica-marks" });
  list.setAttribute("aria-label", "replicas R");
  list.append(...replicaMarks(shows).map(({ text, names, words }) => {
    const chip = element("li", { className: names, title: words }, element("span", { textContent: text }), element("span", { className: "off-screen", textContent: ` ${words}` }));
    chip.firstChild.setAttribute("aria-hidden", "true");
    return chip;
  }));
  return list;
}

// Texts for a part of a partition's lane, the longest first.
function stretchTexts({ partition, dead }) {
  if (!partition) return { heads: ["not there"], sets: [] };
  const { leader, leader_epoch: epoch, waits_for: waits, in_sync: inSync, adding, removing } = partition;
  const doing = partition.being_deleted ? " · being deleted" : !waits ? "" : waits.brokers.length ? ` · waits for ${waits.any ? "one of " : ""}${waits.brokers.map((id) => (dead.includes(id) ? `×${id}` : id)).join(", ")}` : " · may complete";
  const short = leader === null ? `no leader e${epoch}` : `L${leader} e${epoch}`;
  const long = leader === null ? `no leader, epoch ${epoch}` : `leader ${leader}, epoch ${epoch}`;
  const lists = waits ? [["AR", plain(adding)], ["RR", plain(removing)]] : [];
  return { heads: [`${long}${doing}`, `${short}${doing}`, short], sets: [["I", plain(inSync)], ...lists] };
}
