/** How a command ends when what it waits for is gone: never with 0, and never in silence. */
import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

interface Ended {
  readonly code: number;
  readonly stderr: string;
}

function runNode(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, _stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stderr });
    });
  });
}

/** Sends as a command does, which has nothing else to do. */
async function uploadTo(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Ended> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // The type also covers pipes.
  const program = `
    const { upload } = await import(${JSON.stringify(join(ROOT, 'src/cli/upload.ts'))});
    async function* body() { for (let at = 0; at < 100; at += 1) yield Buffer.alloc(65_536); }
    void upload('http://127.0.0.1:${port}/api/v1/restore', {}, body()).then(
      async (answer) => console.error('answered', answer.status, await answer.text()),
      (error) => { console.error(error.name, error.message); process.exit(1); },
    );`;
  try {
    return await runNode(['--input-type=module', '-e', program]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a connection that breaks while a file is sent is an error', async () => {
  const { code, stderr } = await uploadTo((request) => void request.once('data', () => request.socket.destroy()));
  expect(stderr).toMatch(/^OperatorError the connection to .* broke; nothing was changed unless the gateway says so$/m);
  expect(code).toBe(1);
});

test('one that breaks in the middle of the answer is the same error', async () => {
  const { code, stderr } = await uploadTo((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"rows":', () => request.socket.destroy());
    });
  });
  expect(stderr).toMatch(/^OperatorError the connection to .* broke; /m);
  expect(code).toBe(1);
});

test('an answer that comes before all is sent is given back, and the command ends at once', async () => {
  const startMs = performance.now();
  const { code, stderr } = await uploadTo((request, response) => {
    response.writeHead(422).end('refused');
    request.resume();
  });
  expect(stderr).toBe('answered 422 refused\n');
  expect(code).toBe(0);
  expect(performance.now() - startMs).toBeLessThan(1_900);
});

// A promise that nobody will settle, as of a timer that holds no process.
const NEVER = 'data:text/javascript,globalThis.fetch=()=>new Promise(()=>{})';

test.each([['keys', 'list'], ['logs'], ['verify'], ['settings'], ['backup', '-']])(
  'tollgate %s … that waits for nothing any more says so and ends with 1',
  async (...words) => {
    const gateway = ['--url', 'http://127.0.0.1:1', '--token', 'tga_test'];
    const main = join(ROOT, 'src/main.ts');
    const { code, stderr } = await runNode(['--import', NEVER, main, ...words, ...gateway]);
    expect(stderr).toBe('tollgate: the command ended before it was done: what it waited for is gone\n');
    expect(code).toBe(1);
  },
);
