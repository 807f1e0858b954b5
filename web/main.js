// Shows what is open: the meta data, and the verdict when there is one.

const show = (id, text) => { document.getElementById(id).textContent = text; };
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function ask(address) {
  const answer = await fetch(address);
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error);
  return data;
}

async function waitForCapture() {
  for (;;) {
    const meta = await ask('data/meta');
    show('meta', JSON.stringify({ ...meta, kinds: undefined }, null, 1));
    if (meta.state === 'failed') throw new Error(meta.error);
    if (meta.state === 'ready') return meta;
    await pause(50);
  }
}

try {
  const meta = await waitForCapture();
  const summary = await ask('data/summary');
  document.title = `${meta.path} - xlaprof`;
  show('title', meta.path);
  show('verdict', summary.verdict);
} catch (problem) {
  show('verdict', problem.message);
}
