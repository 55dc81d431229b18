/** The programs of clients/typescript/frameworks with the real frameworks, as those for Python. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { call, PACKAGE } from './python.ts';

const FOLDER = join(import.meta.dirname, '../../clients/typescript/frameworks');
const PROGRAMS = ['langgraph', 'langchain', 'openai-agents', 'ai-sdk', 'ai-sdk-telemetry', 'mastra'];
const LIMIT_MS = 900_000;

/** Prints the trees. False where one is not as expected. */
export function testTypescriptFrameworks(python: string): boolean {
  const install = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', install, { cwd: FOLDER, stdio: 'inherit', timeout: LIMIT_MS });
  if (status !== 0) return false;
  let areRight = true;
  for (const program of PROGRAMS) {
    const run = [join(PACKAGE, 'frameworks/run.py'), join(FOLDER, `program-${program}.mjs`), process.execPath];
    const { status: ended, stdout, stderr } = call(python, run);
    console.log(`${stdout}${stderr}`.trimEnd());
    areRight &&= ended === 0;
  }
  return areRight;
}
