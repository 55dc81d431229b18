/** Fits a fixture to a request: the model's name, OpenAI's usage members, the pieces of a stream. */
import { asksForUsage, type DemoRequest, readModel } from './choose-fixture.ts';
import type { Fixture } from './fixture-store.ts';

const FRAME_LENGTH_BYTES = 4;

/** Names the requested model where the fixture's own request named another; text only, since frames carry checksums. */
function withModel(text: string, fixture: Fixture, request: DemoRequest): string {
  const asked = readModel(request);
  if (asked === null || asked === readModel({ path: fixture.path, body: fixture.requestBody })) return text;
  return text.replace(/("(?:model|modelVersion)":\s*)"[^"\\]*"/g, (_, before) => before + JSON.stringify(asked));
}

/** OpenAI omits both the member and the chunk without `stream_options.include_usage`. */
export function withoutUsage(events: readonly string[]): string[] {
  return events.filter((event) => !event.includes('"choices":[],')).map((event) => event.replace(',"usage":null', ''));
}

/** Cuts after each blank line, whatever the line ends are. */
export function splitEvents(text: string): string[] {
  return text.split(/(?<=\r\n\r\n|\n\n|\r\r)/).filter((event) => event !== '');
}

function splitFrames(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at + FRAME_LENGTH_BYTES <= bytes.length; ) {
    const end = at + Math.max(bytes.readUInt32BE(at), FRAME_LENGTH_BYTES);
    frames.push(bytes.subarray(at, end));
    at = end;
  }
  return frames;
}

/** The body's pieces; one for an answer that is not a stream. */
export function shapeAnswer(fixture: Fixture, request: DemoRequest): readonly Buffer[] {
  if (fixture.kind === 'bin') return splitFrames(fixture.body);
  const text = withModel(fixture.body.toString('utf8'), fixture, request);
  if (fixture.kind === 'sse') {
    const events = splitEvents(text);
    const isOpenAiStyle = asksForUsage(fixture.requestBody) && !asksForUsage(request.body);
    return (isOpenAiStyle ? withoutUsage(events) : events).map((event) => Buffer.from(event));
  }
  const pieces = text.startsWith('[') ? text.split(/(?=^,\r?$)/m) : [text];
  return pieces.map((piece) => Buffer.from(piece));
}
