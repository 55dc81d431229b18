/** How the recipes of docs/clients.md are run, by the names that `recipe-cases.ts` uses. */
import type { RecipeRunner } from './recipe-runner.ts';
import { agents, aider } from './runners/agents.ts';
import { go } from './runners/go.ts';
import { java } from './runners/java.ts';
import { node, nodeFrameworks } from './runners/node.ts';
import { python, pythonFrameworks, pythonOf } from './runners/python.ts';
import { rust } from './runners/rust.ts';
import { shell } from './runners/shell.ts';

export const RUNNERS = {
  shell,
  node,
  'node-frameworks': nodeFrameworks,
  python,
  'python-chains': pythonFrameworks('chains'),
  'python-crews': pythonFrameworks('crews'),
  'python-google': pythonFrameworks('google'),
  'python-strands': pythonFrameworks('strands'),
  'python-more': pythonOf('clients/recipes/python/requirements-more.txt'),
  go: go('go'),
  'go-genkit': go('go-genkit'),
  java: java('sdks'),
  'java-spring': java('spring'),
  rust,
  agents,
  aider,
} satisfies Readonly<Record<string, RecipeRunner>>;

export type RunnerName = keyof typeof RUNNERS;

export const RUNNER_NAMES = Object.keys(RUNNERS) as readonly RunnerName[];
