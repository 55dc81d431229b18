/** For clients with an address in a file alone: a copy of that file for one start, as `tollgate setup` would change it, with the run token as key. */
import { messageOf } from '../../vocabulary/errors.ts';
import { editText } from '../setup/edit-text.ts';
import { FORMATS } from '../setup/registry.ts';
import type { SetupClient } from '../setup/setup-client.ts';
import { readUserFile } from '../setup/user-file.ts';
import { nameInFile } from './base-variables.ts';
import type { Additions, RunPlace } from './clients/run-client.ts';
import { writeStartFile } from './start-files.ts';

/** `use`: how the client is told of the copy. A client that has nothing to be led yet is started as it is. */
export function addEditedCopy(client: SetupClient, place: RunPlace, use: (path: string) => Additions): Additions {
  const { origin, token, env, home, ownDir, traceId, addressOf } = place;
  try {
    const [file] = client.listFiles({
      ...{ origin, key: token, env, home, ownDir, addressOf },
      hasFile: (path) => readUserFile(path) !== null,
      read: (path, format) => FORMATS[format].parse(readUserFile(path)?.text ?? ''),
    });
    if (file === undefined) return {};
    const left = (file.left ?? []).map((one) => nameInFile(one, file.path));
    if (file.edits.length === 0) return { left };
    const { text } = editText(FORMATS[file.format], readUserFile(file.path)?.text ?? '', file.edits);
    const copy = writeStartFile(ownDir, `${traceId}.${file.format}`, text);
    return { ...use(copy), files: [copy], left };
  } catch (error) {
    return { note: `${client.title} is not led here: ${messageOf(error)}` };
  }
}
