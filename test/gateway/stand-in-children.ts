/**
 * Stand-ins for the processes that the supervisor starts, with the same manners (ready, stop, disconnect) and nothing
 * else: a proxy that answers with its pid, a control process with two routes, a demo provider. Run as the supervisor
 * runs the real ones: `node stand-in-children.ts internal-<role>`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { connectToSupervisor } from '../../src/supervisor/child-channel.ts';
import type { ChildChannel, ControlStart, DownMessage, ProxyStart } from '../../src/vocabulary/channel.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

function serve(channel: ChildChannel, listenOn: { fd: number } | { host: string; port: number }, answer: Answer): void {
  const server: Server = createServer(answer);
  server.on('error', () => process.exit(3));
  server.listen(listenOn, () => channel.send({ type: 'ready' }));
  channel.onMessage((message) => {
    if (message.type === 'stop') server.close(() => process.exit(0));
  });
}

function runProxy(channel: ChildChannel, start: ProxyStart): void {
  const file = start.keysFile;
  let version: number = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : 0;
  channel.onMessage((message) => {
    if (message.type !== 'keys-changed') return;
    version = message.change.version;
    channel.send({ type: 'keys-applied', version });
  });
  serve(channel, { fd: start.listenFd }, (request, response) => {
    if (request.url === '/slow') setTimeout(() => response.end('slow'), 500);
    else response.end(JSON.stringify({ pid: process.pid, version, config: start.config, spool: start.spoolName }));
  });
}

function runControl(channel: ChildChannel, start: ControlStart): void {
  let names: readonly string[] = start.liveSpools;
  let keys = 0;
  const replies = new Map<number, (message: DownMessage) => void>();
  channel.onMessage((message) => {
    if (message.type === 'live-spools') names = message.names;
    if (message.type === 'status') replies.get(message.requestId)?.(message);
    if (message.type === 'keys-published') replies.get(message.version)?.(message);
  });
  const ask = (id: number, response: ServerResponse, status: number, body: object) => {
    replies.set(id, (message) => {
      response.writeHead(status).end(JSON.stringify({ ...body, message }));
    });
  };
  serve(channel, { host: start.config.adminHost, port: start.config.adminPort }, (request, response) => {
    if (request.headers.authorization !== `Bearer ${start.adminToken}`) {
      response.writeHead(401).end();
    } else if (request.method === 'GET' && request.url === '/api/v1/keys') {
      response.writeHead(200).end('{"data":[]}');
    } else if (request.method === 'POST' && request.url === '/api/v1/keys') {
      keys += 1;
      const version = 1_000 + keys;
      writeFileSync(start.keysFile, JSON.stringify({ version }));
      ask(version, response, 201, { key: `tgk_standin${keys}` });
      channel.send({ type: 'publish-keys', change: { baseVersion: 0, version, upserts: [] } });
    } else if (request.method === 'POST' && request.url === '/api/v1/login-links') {
      response.writeHead(201).end(JSON.stringify({ url: `http://${request.headers.host}/login#code=standin` }));
    } else if (request.url === '/status') {
      ask(1, response, 200, { pid: process.pid, names, databaseUrl: start.databaseUrl });
      channel.send({ type: 'status-request', requestId: 1 });
    } else {
      response.writeHead(404).end();
    }
  });
}

const channel = connectToSupervisor();
// As the real ones: nothing here is open for long, so losing the supervisor is the end at once, but for the stubborn.
channel.onDisconnect(() => {
  if (process.env['STAND_IN_STUBBORN'] === undefined) process.exit(0);
});
channel.onMessage((message) => {
  if (message.type !== 'start') return;
  if (existsSync(join(process.env['STAND_IN_FAILS'] ?? process.cwd(), `fail-${message.role}`))) process.exit(7);
  if (message.role === 'proxy') runProxy(channel, message);
  else if (message.role === 'control') runControl(channel, message);
  else serve(channel, { fd: message.listenFd }, (_request, response) => response.end('demo'));
});
