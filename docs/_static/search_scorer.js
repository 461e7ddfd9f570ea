// How Sphinx's search ranks: a page whose title has all the words comes first, and among such pages a rule's.
//
// Sphinx gives the same score to every page that has one of the words in some heading, so that a part of a rule's id
// finds the rule somewhere among a hundred pages.  The title of a rule's page is its id with the rule's own title.
"use strict";

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  // Above every score of Sphinx's own, which stay below 150.
  exactId: 2000,
  partOfId: 1000,
  allWordsInTitle: 400,
  ofARule: 200,

  // Letters and digits only, so that pre-vote, prevote and Pre-Vote are one word.
  squeezed: (text) => text.toLowerCase().replace(/[^\p{Letter}\p{Number}]+/gu, ""),

  // The words of a title, those with hyphens both whole and in parts.
  wordsOf: (title) => [...title.split(/[\s.]+/), ...title.split(/[^\p{Letter}\p{Number}]+/u)].map(Scorer.squeezed),

  // The query that the page of results was asked for.
  query: () => new URLSearchParams(window.location.search).get("q") ?? "",

  score: (result) => {
    const [docname, title, , , score, , kind] = result;
    const asked = Scorer.query();
    const wanted = Scorer.squeezed(asked);
    if (!wanted || kind === "object") return score;
    const rule = /^rules\/(.+\..+)$/.exec(docname);
    if (rule && !title.includes(" > ")) {
      const id = Scorer.squeezed(rule[1]);
      if (id === wanted) return score + Scorer.exactId;
      // The shorter id is the nearer one.
      if (id.includes(wanted) && /[.-]/.test(asked.trim())) return score + Scorer.partOfId + wanted.length / id.length;
    }
    const stemmer = new Stemmer();
    const words = asked.split(/\s+/).map((word) => stemmer.stemWord(Scorer.squeezed(word))).filter(Boolean);
    const heading = Scorer.wordsOf(title);
    if (!words.every((word) => heading.some((each) => each.startsWith(word)))) return score;
    const covered = Math.min(1, words.join("").length / Scorer.squeezed(title).length);
    return score + Scorer.allWordsInTitle + (rule ? Scorer.ofARule : 0) + 100 * covered;
  },
};
