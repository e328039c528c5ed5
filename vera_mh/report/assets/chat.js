// A transcript as a chat.

function chat(view, prefix) {
  if (!view.turns.length) return h('p', { class: 'note' }, 'The row holds no conversation, only its ratings.');
  const user = view.persona || 'User';
  return h('ol', { class: 'chat' }, view.turns.map((turn) => chatTurn(turn, view.simulated ? [isolated(user), ', simulated'] : [isolated(user)], prefix)));
}

function chatTurn(turn, user, prefix) {
  const who = turn.speaker === 'persona' ? user : turn.speaker === 'provider' ? ['Chatbot'] : ['Unknown speaker'];
  const text = turn.text === undefined ? '' : turn.text;
  const facts = joined([turn.model && isolated(turn.model), turn.tokens !== undefined && plural(turn.tokens, 'token'), turn.ms !== undefined && Math.round(turn.ms) + ' ms'], ' · ');
  return h('li', { class: 'turn ' + (turn.speaker || 'unknown'), id: prefix + 'turn-' + turn.turn },
    h('p', { class: 'speaker' }, h('span', {}, who), h('span', { class: 'number' }, h('span', { class: 'sr' }, 'turn '), turn.turn)),
    h('div', { class: 'bubble' },
      turn.empty ? h('p', { class: 'silent' }, text ? 'said nothing but blanks' : 'said nothing') : h('p', { class: 'words', dir: 'auto' }, byCode(text))),
    turn.cut ? h('p', { class: 'flag' }, 'cut short: ', isolated(turn.cut)) : null,
    turn.ended ? h('p', { class: 'flag calm' }, 'ended the conversation here') : null,
    facts.length ? h('p', { class: 'made' }, facts) : null);
}

function personaSheet(view) {
  const rows = (view.sheet || []).map(([name, value]) => h('div', {}, h('dt', {}, isolated(name)), h('dd', { dir: 'auto' }, byCode(value))));
  const prompt = view.prompt ? [h('div', {}, h('dt', {}, 'System prompt of the chatbot'), h('dd', { dir: 'auto' }, byCode(view.prompt)))] : [];
  if (!rows.length && !prompt.length) return null;
  return h('details', { class: 'sheet' }, h('summary', {}, rows.length ? 'The persona, and what the chatbot was told' : 'What the chatbot was told'), h('dl', { class: 'facts' }, rows, prompt));
}
