/** JSON with comments and trailing commas, as coding agents read their settings. */
import { applyEdits, type FormattingOptions, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { OperatorError } from '../../../vocabulary/errors.ts';
import type { ConfigFormat } from '../config-format.ts';

const OPTIONS = { allowTrailingComma: true, disallowComments: false };

/** As the file has it, or two spaces. */
function readStyle(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

export const jsonFormat: ConfigFormat = {
  parse: (text) => {
    if (text.trim() === '') return null;
    const errors: ParseError[] = [];
    const value: unknown = parse(text, errors, OPTIONS);
    const [first] = errors;
    if (first !== undefined)
      throw new OperatorError(`is no JSON: ${printParseErrorCode(first.error)} at character ${first.offset}`);
    return toJson(value);
  },
  set: (text, place, value) => {
    const edits = modify(text, [...place], value, { formattingOptions: readStyle(text) });
    const changed = applyEdits(text, edits);
    return text.trim() === '' ? `${changed}\n` : changed;
  },
};

function toJson(value: unknown): ReturnType<ConfigFormat['parse']> {
  return JSON.parse(JSON.stringify(value ?? null));
}
