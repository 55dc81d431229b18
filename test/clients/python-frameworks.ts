/**
 * `npm run test:helpers -- frameworks`: the programs of clients/python/frameworks with the real frameworks, two runs side by
 * side in each, compared with the trees in expected.json. Minutes, and about 2 GB of packages.
 */
import { join } from 'node:path';
import { call, makeEnvironment, PACKAGE } from './python.ts';

/** By the file with their versions: not all frameworks want the same ones of OpenAI's SDK. */
const SETS = {
  chains: ['langchain', 'langgraph', 'openai_agents', 'pydantic_ai', 'autogen'],
  crews: ['crewai', 'llama_index', 'smolagents'],
  google: ['adk', 'litellm', 'dspy', 'claude_agent_sdk'],
  strands: ['strands'],
} as const;

/** Prints the trees. False where one is not as expected. */
export function testPythonFrameworks(python: string): boolean {
  const folder = join(PACKAGE, 'frameworks');
  let areRight = true;
  for (const [set, programs] of Object.entries(SETS)) {
    const requirements = join(folder, `requirements-${set}.txt`);
    const inFolder = makeEnvironment(python, requirements, ['--no-deps']);
    for (const program of programs) {
      const { status, stdout, stderr } = call(python, [join(folder, 'run.py'), program, inFolder]);
      console.log(`${stdout}${stderr}`.trimEnd());
      areRight &&= status === 0;
    }
  }
  return areRight;
}
