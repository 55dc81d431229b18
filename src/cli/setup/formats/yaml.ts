/** YAML, as Continue and aider have it. Comments and order stay; the library may write some spaces and quotes anew. */
import { parseDocument, type ToStringOptions } from 'yaml';
import { OperatorError } from '../../../vocabulary/errors.ts';
import type { ConfigFormat } from '../config-format.ts';

function read(text: string) {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw new OperatorError(`is no YAML: ${error.message.split('\n')[0]}`);
  return document;
}

/** As the file has it: the first list of a map tells whether lists are indented. */
function readStyle(text: string): ToStringOptions {
  const [, outer, inner] = /^( *)[\w"'-]+:[ \t]*(?:#.*)?\r?\n(?:\s*(?:#.*)?\r?\n)*( *)- /m.exec(text) ?? [];
  const indents = [...text.matchAll(/^( +)[^\s#]/gm)].map(([, spaces = '']) => spaces.length);
  return {
    lineWidth: 0,
    indent: indents.length === 0 ? 2 : Math.max(2, Math.min(...indents)),
    ...(outer === undefined || inner === undefined ? {} : { indentSeq: inner.length > outer.length }),
    flowCollectionPadding: !/[[{]\S/.test(text),
  };
}

export const yamlFormat: ConfigFormat = {
  parse: (text) => JSON.parse(JSON.stringify(read(text).toJS() ?? null)),
  set: (text, place, value) => {
    const document = read(text);
    if (value === undefined) document.deleteIn(place);
    else document.setIn(place, document.createNode(value));
    return document.toString(readStyle(text));
  },
};
