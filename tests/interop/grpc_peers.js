// grpc-js as the other end of our gRPC (grpc_echo.c says what the methods do); messages are bytes, no protobuf.
//
//   node grpc_peers.js FOLDER serve          prints its port, and serves until standard input ends
//   node grpc_peers.js FOLDER check TARGET   calls our server; exit status 1 with a stack if an answer is wrong
//
// FOLDER has node_modules with @grpc/grpc-js.
'use strict';
const assert = require('assert');
const [folder, mode, target] = process.argv.slice(2);
const grpc = require(folder + '/node_modules/@grpc/grpc-js');

const SERVICE = '/xlaprof.Test/';
const NO_LIMITS = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1, 'grpc.enable_http_proxy': 0 };
const asIs = (bytes) => bytes;
const nap = (ms) => new Promise((done) => setTimeout(done, ms));

function pattern(n) {
  const bytes = Buffer.alloc(n);
  for (let i = 0; i < n; i++) bytes[i] = i % 251;
  return bytes;
}

// ---------------------------------------------------------------- their server

const METHODS = {
  Echo: (call, answer) => answer(null, call.request),
  Big: (call, answer) => answer(null, pattern(Number(call.request.toString()))),
  Slow: (call, answer) => setTimeout(() => answer(null, Buffer.from('done')), Number(call.request.toString())),
  Fail: (call, answer) => {
    const [, code, details] = /^(\d+) ?([^]*)$/.exec(call.request.toString());
    answer({ code: Number(code), details });
  },
};

function serve() {
  const server = new grpc.Server(NO_LIMITS);
  const service = {};
  for (const name of Object.keys(METHODS)) {
    service[name] = { path: SERVICE + name, requestStream: false, responseStream: false, requestSerialize: asIs,
      requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };
  }
  server.addService(service, METHODS);
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
    assert.ifError(error);
    console.log(port);
  });
  process.stdin.on('end', () => server.forceShutdown()).resume();
}

// ---------------------------------------------------------------- their client

function begin(client, method, request, metadata = {}, options = {}) {
  const data = new grpc.Metadata();
  for (const [key, value] of Object.entries(metadata)) data.set(key, value);
  let call;
  const done = new Promise((yes, no) => {
    call = client.makeUnaryRequest(SERVICE + method, asIs, asIs, Buffer.from(request), data,
      { deadline: Date.now() + 30000, ...options }, (error, reply) => (error ? no(error) : yes(reply)));
  });
  return { call, done };
}

const reply = (...words) => begin(...words).done;
const failure = (...words) => begin(...words).done.then(() => assert.fail('no error'), (error) => error);

async function awaitCancelled(client, count) {
  for (let i = 0; i < 200; i++) {
    if (Number((await reply(client, 'Cancelled', '')).toString()) === count) return;
    await nap(10);
  }
  assert.fail('not cancelled');
}

async function checkEnds(client) {
  const before = Number((await reply(client, 'Cancelled', '')).toString());
  assert.strictEqual((await failure(client, 'Slow', '5000', {}, { deadline: Date.now() + 200 })).code, 4);
  await awaitCancelled(client, before + 1);
  const slow = begin(client, 'Slow', '5000');
  await nap(100);
  slow.call.cancel();
  assert.strictEqual((await slow.done.catch((error) => error)).code, 1);
  await awaitCancelled(client, before + 2);
  const big = begin(client, 'Big', '1000000000');
  await nap(50);
  big.call.cancel();
  assert.strictEqual((await big.done.catch((error) => error)).code, 1);
}

async function check() {
  const client = new grpc.Client(target, grpc.credentials.createInsecure(), NO_LIMITS);
  for (const n of [0, 1, 4, 70000, 4 << 20]) {
    assert.ok((await reply(client, 'Echo', pattern(n))).equals(pattern(n)), String(n));
  }
  assert.ok((await reply(client, 'Big', String(64 << 20))).equals(pattern(64 << 20)));
  for (const [code, text] of [[13, 'Another profiling session active.'], [5, '100% naïve €\n%41']]) {
    const error = await failure(client, 'Fail', `${code} ${text}`);
    assert.deepStrictEqual([error.code, error.details], [code, text]);
  }
  assert.strictEqual((await failure(client, 'None', '')).code, 12);
  assert.strictEqual((await failure(client, 'Echo', Buffer.alloc(65 << 20))).code, 8);
  await reply(client, 'Echo', 'x', { note: 'v'.repeat(3000), 'trace-bin': pattern(251) });
  assert.notStrictEqual((await failure(client, 'Echo', 'x', { note: 'v'.repeat(20000) })).code, 0);
  await checkEnds(client);
  const many = await Promise.all(Array.from({ length: 300 }, () => reply(client, 'Big', '100000')));
  assert.ok(many.every((bytes) => bytes.equals(pattern(100000))));
  const patient = new grpc.Client(target, grpc.credentials.createInsecure(),
    { ...NO_LIMITS, 'grpc.keepalive_time_ms': 200, 'grpc.keepalive_permit_without_calls': 1 });
  assert.strictEqual((await reply(patient, 'Slow', '1500')).toString(), 'done');
  client.close();
  patient.close();
}

if (mode === 'serve') {
  serve();
} else {
  check().catch((error) => {
    console.error(error);
    process.exit(1);
  });
}
