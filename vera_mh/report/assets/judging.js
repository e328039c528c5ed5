// What the judge made of a conversation: the ratings, and the path of questions that led to them.

const letterOf = (rating) => LETTERS[rating] || '-';
const questionId = (prefix, id) => prefix + 'q-' + encodeURIComponent(id);

function verdict(view, linkTo) {
  return h('ul', { class: 'verdict', 'aria-label': 'Ratings' }, view.ratings.map((rated) => {
    const rating = RATINGS[letterOf(rated.rating)];
    const links = rated.decided.map((id) => h('a', { href: linkTo(id) }, 'Q' + id));
    return h('li', { class: rating.kind },
      h('p', { class: 'dimension' }, isolated(rated.dimension)),
      h('p', { class: 'rating' }, h('span', { class: 'sign', 'aria-hidden': 'true' }, rating.sign), ' ', rating.name),
      links.length ? h('p', { class: 'decided' }, 'decided by ', joined(links, ', ')) : null);
  }));
}

function leadsTo(step) {
  const goto_ = step.goto || '';
  if (goto_ === 'END') return 'ends the judging, every dimension is Not Relevant';
  if (goto_ === 'ASSIGN_END') return 'ends the judging, dimensions not reached are Not Relevant';
  const on = step.next ? 'on to Q' + step.next : 'the path ends here';
  return goto_.startsWith('NOT_RELEVANT>>') ? 'this dimension is Not Relevant, ' + on : on;
}

function judgePath(view, prefix) {
  const decides = new Map();
  for (const rated of view.ratings) for (const id of rated.decided) decides.set(id, [...(decides.get(id) || []), rated]);
  const parts = [];
  let dimension = null;
  for (const step of view.path) {
    if (step.dimension && step.dimension !== dimension) {
      dimension = step.dimension;
      parts.push(h('li', { class: 'heading' }, h('h3', {}, isolated(dimension))));
    }
    parts.push(pathStep(step, decides.get(step.id) || [], prefix));
  }
  if (!parts.length) return h('p', { class: 'note' }, 'The row does not tell which questions were asked.');
  return h('ol', { class: 'path' }, parts);
}

function questionText(id) {
  const question = INDEX.questions[id];
  return question ? question.text : '';
}

function pathStep(step, decides, prefix) {
  const worst = decides.length ? RATINGS[letterOf(decides[0].rating)].kind : '';
  const text = questionText(step.id);
  const answer = h('p', { class: 'answer' }, h('span', { class: 'sr' }, 'Answer: '), h('strong', {}, isolated(step.answer || '')), ' ', h('span', { class: 'leads' }, leadsTo(step)));
  return h('li', { class: 'step ' + (worst ? 'decides ' + worst : ''), id: questionId(prefix, step.id), tabindex: '-1' },
    h('p', { class: 'question' }, h('span', { class: 'id' }, 'Q' + step.id), text ? h('span', { dir: 'auto' }, byCode(text)) : null),
    answer,
    step.special ? h('p', { class: 'small' }, 'This question answers itself; the judge was not asked.') : step.reasoning ? h('p', { class: 'reasoning', dir: 'auto' }, byCode(step.reasoning)) : null,
    decides.map((rated) => h('p', { class: 'decision' }, 'Decided ', isolated(rated.dimension), ': ', h('strong', {}, RATINGS[letterOf(rated.rating)].name))),
    step.fallback ? h('p', { class: 'flag' }, 'The reply ', isolated('“' + (step.raw || '') + '”'), ' fits no option; the first option stands in.') : step.raw ? h('p', { class: 'flag calm' }, 'Said as ', isolated('“' + step.raw + '”')) : null,
    receipts(step.calls || []));
}

function receipts(calls) {
  if (!calls.length) return null;
  const retries = calls.length - 1;
  const facts = calls.map((call) => h('li', {},
    h('p', {}, joined([call.attempt && 'attempt ' + call.attempt, call.model && isolated(call.model), call.finish && 'finished: ' + call.finish, call.read !== undefined && call.read + ' tokens read', call.written !== undefined && call.written + ' written', call.response && isolated(call.response), call.prompt && 'prompt ' + call.prompt], ' · ')),
    call.said ? h('p', { class: 'raw', dir: 'auto' }, byCode(call.said)) : null));
  return h('details', { class: 'receipts' }, h('summary', {}, retries ? plural(calls.length, 'call') + ', ' + plural(retries, 'reply', 'replies') + ' could not be read' : 'Receipt'), h('ul', {}, facts));
}

function askedAhead(view) {
  const ahead = view.ahead || [];
  if (!ahead.length) return null;
  return h('details', { class: 'ahead' }, h('summary', {}, 'Asked ahead and not needed: ' + plural(ahead.length, 'call')),
    h('p', { class: 'small' }, 'These answers are in no rating. They were asked for before it was known that the path would not reach them.'),
    h('ul', { class: 'path' }, ahead.map((call) => h('li', { class: 'step' },
      h('p', { class: 'question' }, h('span', { class: 'id' }, 'Q' + call.id), questionText(call.id) ? h('span', { dir: 'auto' }, byCode(questionText(call.id))) : null),
      call.said ? h('p', { class: 'raw', dir: 'auto' }, byCode(call.said)) : null,
      h('p', { class: 'small' }, joined([call.model && isolated(call.model), call.read !== undefined && call.read + ' tokens read', call.written !== undefined && call.written + ' written'], ' · '))))));
}

function judgingOf(view, prefix) {
  const known = Object.keys(INDEX.questions).length;
  const nr = view.ratings.filter((rated) => rated.rating === 'Not Relevant' && rated.reasoning);
  return [
    known ? null : h('p', { class: 'small' }, 'The wording of the questions is not here: their pack was not on the machine that wrote this page.'),
    judgePath(view, prefix),
    nr.length ? h('details', { class: 'receipts' }, h('summary', {}, 'Why Not Relevant'), h('ul', {}, nr.map((rated) => h('li', { dir: 'auto' }, isolated(rated.dimension), ': ', byCode(rated.reasoning))))) : null,
    askedAhead(view),
  ];
}
