// tensorflow.ProfilerService by grpc-js, with the field numbers of profiler_service.proto; no protobuf.
//
//   node service_peer.js FOLDER check TARGET             calls our server; exit status 1 with a stack if it answers wrong
//   node service_peer.js FOLDER serve xspace CAPTURE     prints its port; answers Profile with a capture
//   node service_peer.js FOLDER serve busy               .. with the error that a busy server has
//
// FOLDER has node_modules with @grpc/grpc-js.
'use strict';
const assert = require('assert');
const fs = require('fs');
const [folder, mode, ...words] = process.argv.slice(2);
const grpc = require(folder + '/node_modules/@grpc/grpc-js');

const SERVICE = '/tensorflow.ProfilerService/';
const NO_LIMITS = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1, 'grpc.enable_http_proxy': 0 };
const asIs = (bytes) => bytes;
const nap = (ms) => new Promise((done) => setTimeout(done, ms));

// ---------------------------------------------------------------- messages

function varint(n) {
  const bytes = [];
  for (; n > 127; n = Math.floor(n / 128)) bytes.push((n % 128) | 128);
  return Buffer.from([...bytes, n]);
}

// [[number, a number, text, bytes or further fields], ..] as protobuf writes it.
function message(fields) {
  return Buffer.concat(fields.map(([number, value]) => {
    if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)]);
    const data = Buffer.isBuffer(value) ? value : Array.isArray(value) ? message(value) : Buffer.from(value);
    return Buffer.concat([varint(number * 8 + 2), varint(data.length), data]);
  }));
}

// {number: number or bytes}; numbers are below 2^53, and there are no fields of 8 and 4 bytes.
function fieldsOf(data) {
  const found = {};
  let at = 0;
  const number = () => {
    let value = 0, scale = 1, byte;
    do {
      byte = data[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  };
  while (at < data.length) {
    const key = number();
    let value = number();
    if ((key & 7) === 2) {
      at += value;
      value = data.subarray(at - value, at);
    }
    found[Math.floor(key / 8)] = value;
  }
  return found;
}

function profileRequest(ms, session = '') {
  return message([[1, ms], [4, [[2, 2], [3, 1], [5, 1], [9, ms]]], [6, session], [7, 'localhost:1'], [9, 1]]);
}

// ---------------------------------------------------------------- their client

function begin(client, method, request, ms = 30000) {
  let call;
  const done = new Promise((yes, no) => {
    call = client.makeUnaryRequest(SERVICE + method, asIs, asIs, request, new grpc.Metadata(), { deadline: Date.now() + ms },
      (error, reply) => (error ? no(error) : yes(reply)));
  });
  done.catch(() => {});
  return { call, done };
}

const failure = (...how) => begin(...how).done.then(() => assert.fail('no error'), (error) => error);

async function profile(client, ms) {
  assert.ok(fieldsOf(await begin(client, 'Profile', profileRequest(ms)).done)[8].includes('gradient'));
}

async function check(target) {
  const client = new grpc.Client(target, grpc.credentials.createInsecure(), NO_LIMITS);
  await profile(client, 100);
  const running = begin(client, 'Profile', profileRequest(20000, 'to be ended'));
  await nap(300);
  const busy = await failure(client, 'Profile', profileRequest(100));
  assert.strictEqual(busy.code, grpc.status.INTERNAL);
  assert.match(busy.details, /^Another profiling session active\. Held by .* for another 19\.\d s$/);
  assert.strictEqual((await begin(client, 'Terminate', message([[1, 'to be ended']])).done).length, 0);
  assert.ok(fieldsOf(await running.done)[8].includes('gradient'));
  for (let i = 0; i < 5; i++) {
    const cancelled = begin(client, 'Profile', profileRequest(20000));
    await nap(100);
    cancelled.call.cancel();
    await profile(client, 20);
  }
  assert.strictEqual((await failure(client, 'Profile', profileRequest(20000), 300)).code, grpc.status.DEADLINE_EXCEEDED);
  await profile(client, 20);
  assert.match(fieldsOf(await begin(client, 'Monitor', message([[1, 100]])).done)[1].toString(), /^Counter: Steps$/m);
  assert.strictEqual((await failure(client, 'GetSnapshot', Buffer.alloc(0))).code, grpc.status.UNIMPLEMENTED);
  client.close();
}

// ---------------------------------------------------------------- their server

function serve(kind, capture) {
  const server = new grpc.Server(NO_LIMITS);
  const unary = { path: SERVICE + 'Profile', requestStream: false, responseStream: false, requestSerialize: asIs,
    requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };
  server.addService({ Profile: unary }, {
    Profile: (call, answer) => {
      if (kind === 'busy') answer({ code: grpc.status.INTERNAL, details: 'Another profiling session active.' });
      else answer(null, message([[8, fs.readFileSync(capture)]]));
    },
  });
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
    assert.ifError(error);
    console.log(port);
  });
  process.stdin.on('end', () => server.forceShutdown()).resume();
}

if (mode === 'serve') {
  serve(...words);
} else {
  check(...words).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}
