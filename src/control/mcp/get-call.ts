/** One call, and its text where the caller may read it. */
import { z } from 'zod';
import { askJson, describeRefusal, ToolError } from './ask-api.ts';
import { defineTool } from './tool.ts';
import { showFitting, showJson } from './tool-result.ts';

const MAX_CHARS = 30_000;
const USUAL_CHARS = 8_000;
const OK = 200;
const NOT_FOUND = 'log_not_found: There is no call with this id.';

const Call = z.object({ id: z.string(), key_id: z.number().nullable() }).loose();

/** What there was of a body beyond its text, which else would look whole. */
function describeMissing(headers: Headers): object {
  const cutBytes = headers.get('x-tollgate-cut');
  const limit = headers.get('x-tollgate-decoded-limit');
  return {
    ...(cutBytes === null ? {} : { missing_bytes: Number(cutBytes) }),
    ...(limit === null ? {} : { decoded_limit_bytes: Number(limit) }),
  };
}

export const getCall = defineTool({
  name: 'get_call',
  title: 'One call',
  description:
    'Everything that is known of a call: tokens by class, what each class cost (cost_lines), times, errors, metadata, headers. With text it has the request or the response as it was sent, decoded, a part at a time: text_chars says how long it is. Where missing_bytes is there, so many bytes as sent were not kept: the middle, without a mark in the text, or of a compressed body all that follows (bodies of the call says which). Where decoded_limit_bytes is there, the body goes on behind it. A token needs the right to read texts for that.',
  input: z.strictObject({
    id: z.uuid().describe('The id of the call'),
    text: z.enum(['none', 'request', 'response']).default('none'),
    offset: z.number().int().min(0).max(25_000_000).default(0).describe('Where in the text to begin, in characters'),
    max_chars: z.number().int().min(1).max(MAX_CHARS).default(USUAL_CHARS),
  }),
  run: async ({ id, text: which, offset, max_chars: maxChars }, ask, scope) => {
    const call = await askJson(ask, Call, `/api/v1/logs/${id}`);
    const { keyIds } = scope;
    if (keyIds !== null && (call.key_id === null || !keyIds.includes(call.key_id))) throw new ToolError(NOT_FOUND);
    // The neighbours in a run may be calls of other keys.
    const { previous_id: _, next_id: __, ...own } = call;
    const shown = keyIds === null ? call : own;
    if (which === 'none') return showJson(shown);
    if (!scope.hasTexts)
      throw new ToolError(
        'texts_forbidden: This token may not read the text of prompts and answers; make one that may.',
      );
    const answer = await ask(`/api/v1/logs/${id}/${which}?decoded=true`);
    if (answer.status !== OK) throw new ToolError(describeRefusal(answer.status, answer.text));
    const missing = describeMissing(answer.headers);
    // Escapes make some texts twice as long.
    return showFitting(maxChars, (chars) => {
      const part = answer.text.slice(offset, offset + chars);
      const next = offset + part.length;
      return {
        id,
        text: part,
        text_chars: answer.text.length,
        next_offset: next < answer.text.length ? next : null,
        ...missing,
      };
    });
  },
});
