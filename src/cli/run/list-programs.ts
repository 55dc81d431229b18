/** Which programs a command starts, as far as its words tell: itself, and what `npx`, `env` or `sh -c` is to start. Pure. */
import { basename } from 'node:path';

export interface StartedProgram {
  /** Without its folder; of a package, its name without a version. */
  readonly name: string;
  readonly args: readonly string[];
}

const SHELLS: readonly string[] = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'fish'];
/** They start the program behind them. */
const PREFIXES: readonly string[] = ['env', 'exec', 'command', 'nohup', 'time', 'nice', 'sudo'];
/** They start a package; those of several words do so only with these. */
const RUNNERS: readonly (readonly string[])[] = [
  ['npx'],
  ['bunx'],
  ['pnpx'],
  ['uvx'],
  ['npm', 'exec'],
  ['npm', 'x'],
  ['pnpm', 'dlx'],
  ['pnpm', 'exec'],
  ['yarn', 'dlx'],
  ['bun', 'x'],
  ['pipx', 'run'],
  ['uv', 'tool', 'run'],
  ['uv', 'run'],
  ['poetry', 'run'],
];
/** Options of runners and prefixes that have a value of their own behind them. */
const WITH_VALUE = /^(?:-p|--package|--from|--with|--spec|-u|-n|-C|--python)$/;
/** What `npx` starts by a shell. */
const CALL = /^(?:-c|--call)$/;
const ASSIGNMENT = /^\w+=/;
/** In front of a command of a shell. */
const KEYWORD = /^(?:if|then|elif|else|while|until|do|!|\{|\()$/;

function nameOf(word: string): string {
  return basename(word).replace(/\.(?:exe|cmd|[cm]?js)$/, '');
}

/** `@openai/codex@latest` and `aider-chat==0.86`. */
function packageOf(word: string): string {
  return word.replace(/(?<=.)(?:@|==).*$/, '');
}

/** The commands of a shell's text, each as its words. Quotes hold words together; what they quote is not looked into. */
function splitShell(text: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  for (const [token, word] of text.matchAll(/((?:[^\s;&|()'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)|[;&|()\n]/g)) {
    if (word === undefined) commands.push([]);
    else commands.at(-1)?.push(token.replace(/['"]/g, ''));
  }
  return commands.map((words) => words.slice(words.findIndex((word) => !KEYWORD.test(word))));
}

function listOfRunner(words: readonly string[]): readonly StartedProgram[] {
  let at = 0;
  while (words[at]?.startsWith('-') === true) {
    const word = words[at] ?? '';
    if (CALL.test(word)) return splitShell(words[at + 1] ?? '').flatMap(listPrograms);
    at += word === '--' ? 1 : WITH_VALUE.test(word) ? 2 : 1;
  }
  const [word, ...args] = words.slice(at);
  if (word === undefined) return [];
  return [{ name: packageOf(word), args }, ...listPrograms([word, ...args])];
}

export function listPrograms(command: readonly string[]): readonly StartedProgram[] {
  const first = command.findIndex((word) => !ASSIGNMENT.test(word));
  const [word, ...args] = first < 0 ? [] : command.slice(first);
  if (word === undefined) return [];
  const name = nameOf(word);
  const own = { name, args };
  if (SHELLS.includes(name)) {
    const at = args.findIndex((argument) => /^-[a-z]*c$/.test(argument));
    return at < 0 ? [own] : [own, ...splitShell(args[at + 1] ?? '').flatMap(listPrograms)];
  }
  if (PREFIXES.includes(name)) {
    const behind = args.findIndex((argument, at) => !argument.startsWith('-') && !WITH_VALUE.test(args[at - 1] ?? ''));
    return behind < 0 ? [own] : [own, ...listPrograms(args.slice(behind))];
  }
  if (/^python[\d.]*$/.test(name)) {
    const [flag, module, ...rest] = args;
    return flag === '-m' && module !== undefined ? [own, { name: module, args: rest }] : [own];
  }
  const runner = RUNNERS.find((words) => words.every((one, at) => (at === 0 ? name : args[at - 1]) === one));
  return runner === undefined ? [own] : [own, ...listOfRunner(args.slice(runner.length - 1))];
}
