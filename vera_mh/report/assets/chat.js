// A transcript as a chat.

function chat(reading, prefix) {
  if (!reading.turns.length) return h('p', { class: 'note' }, 'The row holds no conversation, only its ratings.');
  const user = reading.persona || 'User';
  return h('ol', { class: 'chat' }, reading.turns.map((turn) => chatTurn(turn, reading.simulated ? [isolated(user), ', simulated'] : [isolated(user)], prefix)));
}

function chatTurn(turn, user, prefix) {
  const who = turn.speaker === 'persona' ? user : turn.speaker === 'provider' ? ['Chatbot'] : ['Unknown speaker'];
  const text = turn.text === undefined ? '' : turn.text;
  const facts = joined([turn.model && isolated(turn.model), turn.tokens !== undefined && plural(turn.tokens, 'token'), turn.ms !== undefined && Math.round(turn.ms) + ' ms'], ' · ');
  return h('li', { class: 'turn ' + (turn.speaker || 'unknown'), id: prefix + 'turn-' + turn.turn },
    h('p', { class: 'speaker' }, h('span', {}, who), h('span', { class: 'number' }, h('span', { class: 'sr' }, 'turn '), turn.turn)),
    h('div', { class: 'bubble' },
      turn.empty ? h('p', { class: 'silent' }, text ? 'said nothing but blanks' : 'said nothing') : h('p', { class: 'words', dir: 'auto' }, said(text))),
    turn.cut ? h('p', { class: 'flag' }, 'cut short: ', isolated(turn.cut)) : null,
    turn.ended ? h('p', { class: 'flag calm' }, 'ended the conversation here') : null,
    facts.length ? h('p', { class: 'made' }, facts) : null);
}

function personaSheet(reading) {
  const rows = (reading.sheet || []).map(([name, value]) => h('div', {}, h('dt', {}, isolated(name)), h('dd', { dir: 'auto' }, said(value))));
  const prompt = reading.prompt ? [h('div', {}, h('dt', {}, 'System prompt of the chatbot'), h('dd', { dir: 'auto' }, said(reading.prompt)))] : [];
  if (!rows.length && !prompt.length) return null;
  return h('details', { class: 'sheet' }, h('summary', {}, rows.length ? 'The persona, and what the chatbot was told' : 'What the chatbot was told'), h('dl', { class: 'facts' }, rows, prompt));
}
