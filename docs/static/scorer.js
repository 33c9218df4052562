// Search shows pages before lists of methods: the defaults of Sphinx, with less for names of Python objects.
var Scorer = {
  objNameMatch: 4,
  objPartialMatch: 1,
  objPrio: {0: 2, 1: 1, 2: -1},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
