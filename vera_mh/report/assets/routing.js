// Which part of the page is shown follows from the address, so that every part can be linked to and gone back to.

function goTo(element) {
  if (!element) return;
  for (const old of document.querySelectorAll('.target')) old.classList.remove('target');
  element.classList.add('target');
  for (let around = element.closest('details'); around; around = around.parentElement.closest('details')) around.open = true;
  element.scrollIntoView({ block: 'center' });
  element.focus({ preventScroll: true });
}

function steps(row) {
  const { place, count, before, after } = list.around(row);
  const to = (other, words) => (other ? h('a', { class: 'button', href: '#c/' + other.key }, words) : null);
  return h('nav', { class: 'steps', 'aria-label': 'Conversations' },
    h('a', { href: list.address }, 'Back to the list'),
    h('span', { class: 'small' }, place + 1 + ' of ' + count),
    h('span', { class: 'buttons' }, to(before, 'Previous'), to(after, 'Next')));
}

function show(id, jumped) {
  for (const view of document.querySelectorAll('.view')) view.hidden = view.id !== id;
  for (const link of document.querySelectorAll('nav [data-view]')) {
    const current = link.dataset.view === (id === 'show-reader' ? 'list' : id.slice(5));
    if (current) link.setAttribute('aria-current', 'page'); else link.removeAttribute('aria-current');
  }
  const heading = document.querySelector('#' + id + ' h1');
  if (!jumped) return;
  scrollTo(0, 0);
  if (heading) heading.focus({ preventScroll: true });
}

function reason(error) {
  if (error instanceof URIError) return 'The address of this page cannot be read: a % in it stands for nothing.';
  if (typeof DecompressionStream === 'undefined') return 'This browser is too old to unpack the conversations of this page. A newer one can.';
  return 'This part of the page cannot be shown: ' + error.message;
}

// What went wrong, said above whatever is shown until something else is.
function tell(words) {
  let place = document.getElementById('trouble');
  if (!place && words) {
    place = h('p', { id: 'trouble', role: 'alert', class: 'caveat', tabindex: '-1' });
    document.getElementById('main').prepend(place);
  }
  if (!place) return;
  place.textContent = words;
  place.hidden = !words;
}

function startRouting(sections, theList, views) {
  let turn = 0;
  async function route(jumped) {
    const mine = (turn += 1);
    const [, word, rest] = /^#(\w+)[/?]?(.*)$/.exec(location.hash) || [null, 'overview', ''];
    if (word === 'main' || (!views[word] && word !== 'overview' && document.getElementById(word))) {
      if (word !== 'main') show('show-overview', false);
      return;
    }
    const id = sections[word] || 'show-overview';
    const again = id === 'show-reader' && !document.getElementById(id).hidden && document.getElementById(id).dataset.key === rest.split('/')[0];
    if (!again && id === 'show-reader') delete document.getElementById(id).dataset.key;  // Its neighbours may be others now.
    document.body.classList.add('busy');
    tell('');
    try {
      if (views[word] && !again) await views[word](rest.split('/q/')[0]);
      if (mine !== turn) return;
      if (!again) show(id, jumped);
      if (views[word] && rest.includes('/q/')) await views[word](rest);
    } catch (error) {
      if (mine === turn) tell(reason(error));
    } finally {
      if (mine === turn) document.body.classList.remove('busy');
    }
  }
  addEventListener('hashchange', () => route(true));
  theList.open('');
  route(false);
}
