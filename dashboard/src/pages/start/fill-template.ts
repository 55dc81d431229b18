/** Fills a program of a client (`SnippetTemplate`, which describes the marks) with the reader's settings. Pure. */
import type { SnippetTemplate } from '../../../../src/providers/provider.ts';
import {
  clientHeaders,
  headerLines,
  keyVariable,
  runHeaders,
  type Snippet,
  type SnippetSettings,
} from './snippet-words.ts';

interface Language {
  readonly filename: string;
  readonly trace: string;
  /** The variable that `trace` declares. */
  readonly traceId: string;
  readonly readVariable: (name: string) => string;
}

const LANGUAGES: Readonly<Record<SnippetTemplate['language'], Language>> = {
  js: {
    filename: 'hello.mjs',
    trace: 'const traceId = crypto.randomUUID(); // the same for all calls of one run',
    traceId: 'traceId',
    readVariable: (name) => `process.env.${name}`,
  },
  python: {
    filename: 'hello.py',
    trace: 'trace_id = str(uuid.uuid4())  # the same for all calls of one run',
    traceId: 'trace_id',
    readVariable: (name) => `os.environ[${JSON.stringify(name)}]`,
  },
};

/** `import` lines of Python's standard library, and an empty line behind them where there is any. */
function importLines(always: string, { withRun, ...settings }: SnippetSettings): readonly string[] {
  const isKeyRead = keyVariable({ ...settings, withRun }) !== null;
  const names = [always, isKeyRead ? 'os' : '', withRun ? 'uuid' : ''].filter((name) => name !== '');
  const lines = [...new Set(names)].sort().map((name) => `import ${name}`);
  return lines.length === 0 ? [] : [...lines, ''];
}

/** The lines that stand for one of the template: none, itself, or what its mark stands for. */
function fillLine(line: string, language: Language, settings: SnippetSettings): readonly string[] {
  if (line.startsWith('?')) return settings.withRun ? fillLine(line.slice(1), language, settings) : [];
  if (line.startsWith('!')) return settings.withRun ? [] : fillLine(line.slice(1), language, settings);
  const [, indent = '', mark, always = ''] =
    /^( *)\{(headers|run headers|imports|trace)(?: (\w+))?\}$/.exec(line) ?? [];
  const variable = keyVariable(settings);
  const key = variable === null ? JSON.stringify(settings.keyPlaceholder) : language.readVariable(variable);
  switch (mark) {
    case 'headers':
      return headerLines(clientHeaders(settings, key), indent);
    case 'run headers':
      return headerLines(runHeaders(language.traceId), indent);
    case 'imports':
      return importLines(always, settings);
    case 'trace':
      return [language.trace];
    default:
      return [line.replaceAll('{base}', settings.baseUrl)];
  }
}

export function fillTemplate(
  { id, label, language, code, pitfall }: SnippetTemplate,
  settings: SnippetSettings,
): Snippet {
  const words = LANGUAGES[language];
  const lines = code.split('\n').flatMap((line) => fillLine(line, words, settings));
  return {
    id,
    label,
    language,
    filename: words.filename,
    code: lines.join('\n'),
    pitfall: pitfall.replaceAll('{base}', settings.baseUrl),
  };
}
