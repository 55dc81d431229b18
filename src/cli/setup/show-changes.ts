/** What is about to change, as `diff -u` shows it; without gateway keys. */
import { createTwoFilesPatch } from 'diff';
import { terminalText } from '../terminal-text.ts';
import { isChange, type PlannedFile } from './plan-setup.ts';

const CONTEXT_LINES = 2;
const KEYS = /\btgk_[\w-]+/g;

function showFile({ path, now, next }: PlannedFile): string {
  const from = now === null ? '/dev/null' : path;
  const to = next === null ? '/dev/null' : path;
  const [before = '', after = ''] = [now?.text, next?.text].map((text) => text?.replaceAll(KEYS, 'tgk_…'));
  if (before === after) return `--- ${path}\n+++ ${path}\n(another gateway key, or readable by you alone)\n`;
  const patch = createTwoFilesPatch(from, to, before, after, undefined, undefined, { context: CONTEXT_LINES });
  return patch.slice(patch.indexOf('--- '));
}

export function showChanges(files: readonly PlannedFile[]): readonly string[] {
  return files
    .filter(isChange)
    .flatMap((file) => showFile(file).trimEnd().split('\n'))
    .map(terminalText);
}
