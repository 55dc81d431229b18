/** The text of each recorded exchange, as it stands in the log. */
import { expect, test } from 'vitest';
import { type Fixture, listFixtures } from '../../../test/support/fixtures.ts';
import { type PlainBody, readCallTexts } from './call-texts.ts';

const FIXTURES = new Map(listFixtures().map((fixture) => [`${fixture.provider}/${fixture.name}`, fixture]));

const TEXTS: readonly (readonly [fixture: string, prompt: string, answer: string])[] = [
  ['openai/batch-cancelling', '', ''],
  ['openai/batch-created', '', ''],
  ['openai/batch-fetched', '', ''],
  ['openai/chat-audio', 'Say what this gateway does.', 'Every call is metered.'],
  ['openai/chat-cache-write-stream', 'Write to the cache.', 'Written to the\n cache.'],
  ['openai/chat-choices-prediction', 'One word.', 'Metered.\nLogged.'],
  ['openai/chat-details', 'Answer aloud.', 'Tollgate demo: cached, spoken and reasoned tokens are told apart.'],
  ['openai/chat-odd-lines', 'Say in one line what this gateway does.', 'Tollgate – 料金所'],
  ['openai/chat-odd-space', 'Say in one line what this gateway does.', '{"usage":{"prompt_tokens":1}}'],
  [
    'openai/chat-reasoning-cache-write',
    'Plan the demo.',
    'Tollgate demo: first think, then speak. The thinking is billed as output and shown beside it.',
  ],
  ['openai/chat-stream-cut', 'Say in one line what this gateway does.', 'Tollgate'],
  [
    'openai/chat-stream-usage-asked',
    'Say in one line what this gateway does.',
    'Tollgate demo: every call is logged with its exact cost. 東京 to São Paulo 🚀',
  ],
  [
    'openai/chat-stream-usage-not-asked',
    'Say in one line what this gateway does.',
    'Tollgate demo: every call is logged with its exact cost. 東京 to São Paulo 🚀',
  ],
  ['openai/chat-stream-usage', 'Say in one line what this gateway does.', 'Tollgate demo: every call is'],
  ['openai/chat-tool-call-stream', 'What is the toll on the A1?', 'read_toll\n{"road":"A1 – München"}'],
  ['openai/chat-tool-call', 'What is the toll on the A1?', 'read_toll\n{"road":"A1"}'],
  [
    'openai/chat',
    'What does a toll gate count?',
    'Tollgate demo: a toll gate counts what passes and what it costs. This one counts tokens — in, out, cached — and adds up the money to the last decimal. 👋',
  ],
  ['openai/completions-stream', 'Name the gateway.', 'Tollgate demo.'],
  ['openai/completions', 'Tollgate demo:', ' the old completions work too.'],
  ['openai/decisions', 'How much was that?\nis_question\nIs it a question?', 'is_question'],
  ['openai/embeddings-odd-base64', 'one\ntwo', ''],
  ['openai/embeddings', 'Tollgate demo\n過路費', ''],
  ['openai/error-401', 'Hello?', ''],
  ['openai/error-404', 'Hello?', ''],
  ['openai/error-429', 'Hello?', ''],
  ['openai/error-mid-stream', 'Say in one line what this gateway does.', 'Tollgate demo:'],
  ['openai/images-edit-stream-cut', 'Add a gate.', ''],
  ['openai/images-stream', 'A toll gate at dusk.', ''],
  ['openai/images-svg', 'A toll gate as a drawing.', ''],
  ['openai/images', 'A toll gate at dawn.', ''],
  ['openai/moderations', 'A toll gate.', ''],
  ['openai/responses-background-cancelled', '', ''],
  ['openai/responses-background-created', 'Take your time.', ''],
  ['openai/responses-background-cut', 'Take your time.', 'Do'],
  ['openai/responses-background-fetched', '', 'Done in the background.'],
  ['openai/responses-background-replay', '', 'Done.'],
  ['openai/responses-background-running', '', ''],
  ['openai/responses-background-stream', 'Take your time.', 'Done.'],
  ['openai/responses-compact', 'A long conversation.', ''],
  ['openai/responses-error-event', 'Hello.', ''],
  ['openai/responses-failed-stream', 'Fail, please.', ''],
  ['openai/responses-fetched-again', '', 'Billed when it was made.'],
  ['openai/responses-hosted', 'Search, run and draw.', 'tollgate\nprices\n1+1\nSearched, ran and drawn.'],
  ['openai/responses-incomplete-web-search', 'Search the demo.', 'tollgate'],
  ['openai/responses-stream', 'Greet the demo.', 'Tollgate demo: Antworten, réponses, 回答 – all of them metered.'],
  ['openai/responses', 'Greet the demo.', 'Tollgate demo: Antworten, réponses, 回答 – all of them metered.'],
  ['openai/speech-stream', 'Ready.', ''],
  ['openai/speech', 'Zoll 🛂, prêt!', ''],
  ['openai/transcription-duration', '', 'Every call is metered.'],
  ['openai/transcription-stream', '', 'Every call is metered.'],
  ['openai/transcription', '', 'Every call is metered.'],
  ['openai/translation-subtitles', '', '1\n00:00:00,000 --> 00:00:02,000\nEvery call is metered.\n\n'],
  ['anthropic/batch-create', 'One.\nTwo.', ''],
  [
    'anthropic/batch-results',
    '',
    'Tollgate demo: one of many.\nTollgate demo: one of many.\nTollgate demo: one of many.',
  ],
  ['anthropic/batch-status', '', ''],
  ['anthropic/chat', 'Hello, in another format.', 'Tollgate demo: same model, other words.'],
  ['anthropic/count-tokens', 'How long am I?', ''],
  ['anthropic/error-400', 'Hi.', ''],
  ['anthropic/error-404', 'Hello?', ''],
  ['anthropic/error-429', 'Hello?', ''],
  ['anthropic/error-529', 'Say hello to the demo.', ''],
  ['anthropic/messages-beta-advisor-stream', 'Ask somebody.', 'Tollgate demo: two models, two rates.'],
  [
    'anthropic/messages-beta-code-stream',
    'Count to ten with code.',
    'bash_code_execution\n{"command":"seq 10"}\n1 … 10\ntext_editor_code_execution\nTollgate demo: counted.',
  ],
  ['anthropic/messages-beta-compaction', 'Go on.', 'So far: a demo.\nTollgate demo: the summary was billed too.'],
  ['anthropic/messages-beta-fallback-credit', 'Once more, please.', 'Tollgate demo: the cache is not paid twice.'],
  [
    'anthropic/messages-beta-fallback-stream',
    'Something delicate.',
    'Tollgate demo: the first model began,\n and the second model answered.',
  ],
  ['anthropic/messages-beta-fallback', 'Something delicate.', 'Tollgate demo: the second model answered.'],
  ['anthropic/messages-beta-fast', 'Quick!', 'Tollgate demo: fast.'],
  [
    'anthropic/messages-beta-web-search',
    'What is new at the gate?',
    'code_execution\nweb_search\n{"query":"toll gate"}\nTollgate demo: two searches, one page, one bill.',
  ],
  ['anthropic/messages-cache-1h', 'You are a gate.\nAnd now?', 'Tollgate demo: kept for an hour.'],
  ['anthropic/messages-cache-stream', 'Say hello to the demo.', 'Tollgate demo: the cache is warm.'],
  [
    'anthropic/messages-cache',
    'A long system prompt.\nSay hello to the demo.',
    'Tollgate demo: cached reads are cheap, cache writes are not, and both are told apart here.',
  ],
  ['anthropic/messages-cut-stream', 'Tell me a long story.', 'Once upon a toll'],
  ['anthropic/messages-error-event', 'Say hello to the demo.', 'Tollgate demo: this answer breaks off'],
  ['anthropic/messages-error-first', 'Hello?', ''],
  ['anthropic/messages-odd-stream', 'Surprise me.', '"type":"message_stop" is only text here.'],
  ['anthropic/messages-refusal', 'Something forbidden.', 'Tollgate demo: I began, and '],
  ['anthropic/messages-stream', 'Say hello to the demo.', 'Tollgate demo: bytes pass as they come — 一字不改 ✨.'],
  [
    'anthropic/messages-thinking',
    'Say hello to the demo.',
    'The demo wants a thoughtful line.\nTollgate demo: thought first, answered second.',
  ],
  ['anthropic/messages-tool-use-stream', 'Say hello to the demo.', 'read_toll\n{"road": "A1 Köln"}'],
  [
    'anthropic/messages-tool-use',
    'Say hello to the demo.',
    'Tollgate demo: looking up the toll.\nread_toll\n{"road":"A1"}',
  ],
  [
    'anthropic/messages',
    'Say hello to the demo.',
    'Tollgate demo: hello! This short answer has its own row, its own price and its own place in the tree.',
  ],
  ['gemini/batch-embed-contents', 'Gate', ''],
  ['gemini/batch-file', '', 'One.\nThree.'],
  ['gemini/batch-get', '', 'One.\nTwo.'],
  ['gemini/count-tokens', 'How long am I?', ''],
  ['gemini/embed-content', 'Gate', ''],
  ['gemini/error-404', 'Hello?', ''],
  ['gemini/error-429', 'Hello?', ''],
  ['gemini/error-array', 'Hello?', ''],
  [
    'gemini/generate-cached-thoughts-tools',
    'Listen and search.',
    'Tollgate demo: text, sound and tools, each counted once.',
  ],
  ['gemini/generate-grounding', 'What is new in Aarhus?', 'Tollgate demo: found, read and counted.'],
  ['gemini/generate-image', 'Draw the gate.', 'Tollgate demo: a gate.'],
  ['gemini/generate-maps', 'Where is a good bakery?', 'Tollgate demo: around the corner.'],
  ['gemini/generate-refusal', 'Something that is blocked.', ''],
  ['gemini/generate-speech-flex', 'Say it.', ''],
  ['gemini/generate-tool-call', 'What is the toll on the A1?', 'read_toll\n{"road":"A1"}'],
  ['gemini/generate', 'Introduce the demo.', 'Tollgate demo: one header in front, nothing else changed. ✨'],
  ['gemini/interactions-background', 'Research it.', ''],
  ['gemini/interactions-get-background', '', 'Tollgate demo: researched.'],
  ['gemini/interactions-stream-error', 'Greet the demo.', 'Tollgate '],
  ['gemini/interactions-stream', 'Greet the demo.', 'Tollgate demo: Schritt für Schritt.'],
  ['gemini/interactions', 'Greet the demo.', 'Tollgate demo: one interaction, billed once.'],
  ['gemini/openai-chat-stream', 'Greet the demo.', 'Tollgate demo: another accent.'],
  ['gemini/predict-imagen', 'A gate', ''],
  ['gemini/stream-array-cut', 'Stream, please.', 'Tollgate demo: '],
  ['gemini/stream-array', 'Introduce the demo.', 'Tollgate demo: die Maut für Token – 日本語もどうぞ 🎌.'],
  ['gemini/stream-object-odd', 'Stream, please.', 'Tollgate demo: one object where an array was asked for.'],
  ['gemini/stream-sse-cut', 'Stream, please.', 'Tollgate demo: and then '],
  ['gemini/stream-sse-error', 'Stream, please.', 'Tollgate demo: '],
  ['gemini/stream-sse-grounding', 'Search, please.', 'Tollgate demo: three queries.'],
  ['gemini/stream-sse', 'Introduce the demo.', 'Tollgate demo: die Maut für Token – 日本語もどうぞ 🎌.'],
  ['bedrock/chat', 'Hello.', 'Tollgate demo: the other route.'],
  ['bedrock/converse-flex-1h', 'Introduce the demo.', 'Tollgate demo: kept for an hour, served when there is time.'],
  ['bedrock/converse-nova', 'One line, please.', 'Tollgate demo: a short line from Nova.'],
  ['bedrock/converse-stream-error-403', 'Introduce the demo.', ''],
  ['bedrock/converse-stream-exception', 'Introduce the demo.', 'Tollgate demo: frames instead of lines, '],
  ['bedrock/converse-stream-odd-checksum', 'Introduce the demo.', 'Tollgate demo: frames instead of lines, '],
  ['bedrock/converse-stream-odd-inclusive', 'Introduce the demo.', 'Tollgate demo: frames instead of lines, '],
  ['bedrock/converse-stream', 'Introduce the demo.', 'Tollgate demo: frames instead of lines, 数え間違いなし 🌊.'],
  [
    'bedrock/converse-tool-use',
    'What is the toll on the A1?',
    'Tollgate demo: looking up the toll.\n{"road":"A1"}\nread_toll',
  ],
  ['bedrock/converse', 'Introduce the demo.', 'Tollgate demo: the same model, another door – counted just as exactly.'],
  ['bedrock/count-tokens', 'Introduce the demo.', ''],
  ['bedrock/error-400', 'Hello?', ''],
  ['bedrock/error-429', 'Hello?', ''],
  ['bedrock/invoke-claude-stream', 'Introduce the demo.', 'Tollgate demo: 数える'],
  ['bedrock/invoke-claude', 'Introduce the demo.', 'Tollgate demo: a model behind another door.'],
  ['bedrock/invoke-cohere-embedding', 'A toll gate.', ''],
  ['bedrock/invoke-image', 'A toll gate.', ''],
  ['bedrock/invoke-llama-cut-stream', 'Introduce the demo.', 'Tollgate'],
  ['bedrock/invoke-llama', 'Introduce the demo.', '\n\nTollgate demo: counted by the model itself.'],
  ['bedrock/invoke-mistral', 'Introduce the demo.', 'Tollgate demo: in a borrowed format.'],
  ['bedrock/invoke-nova-stream', 'Introduce the demo.', 'Tollgate demo: Nova counts in camel case.'],
  ['bedrock/invoke-nova', 'Introduce the demo.', 'Tollgate demo: Nova counts in camel case.'],
  ['bedrock/invoke-stream-error-403', 'Introduce the demo.', ''],
  ['bedrock/invoke-stream-exception', 'Introduce the demo.', 'Tollgate demo: 数える'],
  ['bedrock/invoke-titan-embedding', 'A toll gate.', ''],
  ['bedrock/messages', 'Hello.', 'Tollgate demo: one shape, several hosts.'],
  ['fireworks/chat-cached-headers', 'Greet the demo.', 'Tollgate demo: the head knows.'],
  ['fireworks/chat-stream-cut', 'Greet the demo.', 'Tollgate demo: and then '],
  ['fireworks/chat-stream-metrics', 'Greet the demo.', 'Tollgate demo: measured.'],
  ['fireworks/chat-stream', 'Greet the demo.', 'Tollgate demo: sparks 🎆 und Buchhaltung.'],
  ['fireworks/chat-tool-call', 'What is the toll on the A1?', 'read_toll\n{"road":"A1"}'],
  ['fireworks/chat', 'Greet the demo.', 'Tollgate demo: fast sparks, careful books.'],
  ['fireworks/embeddings', 'Gate', ''],
  ['fireworks/error-404', 'Hello?', ''],
  ['fireworks/error-412', 'Greet the demo.', ''],
  ['fireworks/error-429', 'Hello?', ''],
  ['fireworks/messages', 'Greet the demo.', 'Tollgate demo: the messages API, served elsewhere.'],
  ['fireworks/rerank', 'gate\nA gate.\nA door.', ''],
  ['fireworks/responses', 'Greet the demo.', 'Tollgate demo: responding.'],
  ['together/chat-cached', 'Greet the demo.', 'Tollgate demo: remembered.'],
  ['together/chat-stream-error', 'Greet the demo.', 'Tollgate '],
  ['together/chat-stream', 'Greet the demo.', 'Tollgate demo: together 一緒に.'],
  ['together/chat-tool-call', 'What is the toll on the A1?', 'read_toll\n{"road":"A1"}'],
  ['together/chat', 'Greet the demo.', 'Tollgate demo: many models, one ledger.'],
  ['together/embeddings', 'Gate', ''],
  ['together/error-404', 'Hello?', ''],
  ['together/error-429', 'Hello?', ''],
  ['together/images', 'A gate', ''],
  ['together/messages', 'Greet the demo.', 'Tollgate demo: another shape.'],
  ['together/rerank', 'gate\nA gate.', 'A gate.'],
  ['together/video-background', 'A gate opens', ''],
  ['together/video-get-background', '', ''],
  ['deepseek/chat-stream-cut', 'Greet the demo.', 'Tollgate demo: and then '],
  ['deepseek/chat-stream', 'Greet the demo.', 'Tollgate demo: 深度思考 – deep and seeking.'],
  ['deepseek/chat-tool-call', 'What is the toll on the A1?', 'read_toll\n{"road":"A1"}'],
  ['deepseek/chat-web-search', 'Greet the demo.', 'Tollgate demo: looked up.'],
  ['deepseek/chat', 'Greet the demo.', 'Tollgate demo: the blank lines before this answer kept the line open.'],
  ['deepseek/completions-fim', 'def gate(\nreturn toll', '):\n    '],
  ['deepseek/error-400', 'Hello?', ''],
  ['deepseek/error-402', 'Hello?', ''],
  ['deepseek/error-429', 'Hello?', ''],
  ['deepseek/messages-stream', 'Greet the demo.', 'Tollgate demo: under another name.'],
  [
    'deepseek/messages',
    'Greet the demo.',
    'Tollgate demo: asked for one model, served by another – the answer says which.',
  ],
  ['deepseek/responses-stream', 'Greet the demo.', 'Tollgate demo: deeper.'],
  ['deepseek/tools-fetch', '', '# Gates\n\nTollgate demo: a page.'],
  ['deepseek/tools-search-odd', 'nothing at all', ''],
  ['deepseek/tools-search', 'toll gates', 'Gates\nTollgate demo: a result.'],
];

/** Where they are not the whole text. */
const SNIPPETS: readonly (readonly [fixture: string, prompt: string, answer: string])[] = [
  ['openai/chat-cache-write-stream', 'Write to the cache.', 'Written to the cache.'],
  ['openai/chat-choices-prediction', 'One word.', 'Metered. Logged.'],
  ['openai/chat-tool-call-stream', 'What is the toll on the A1?', 'read_toll {"road":"A1 – München"}'],
  ['openai/chat-tool-call', 'What is the toll on the A1?', 'read_toll {"road":"A1"}'],
  [
    'openai/chat',
    'What does a toll gate count?',
    'Tollgate demo: a toll gate counts what passes and what it costs. This one counts tokens — in, out, cached — and adds up…',
  ],
  ['openai/completions', 'Tollgate demo:', 'the old completions work too.'],
  ['openai/decisions', 'How much was that?', 'is_question'],
  ['openai/embeddings-odd-base64', 'one two', ''],
  ['openai/embeddings', 'Tollgate demo 過路費', ''],
  ['openai/responses-hosted', 'Search, run and draw.', 'Searched, ran and drawn.'],
  ['openai/translation-subtitles', '', '1 00:00:00,000 --> 00:00:02,000 Every call is metered.'],
  ['anthropic/batch-create', 'Two.', ''],
  [
    'anthropic/batch-results',
    '',
    'Tollgate demo: one of many. Tollgate demo: one of many. Tollgate demo: one of many.',
  ],
  ['anthropic/messages-beta-code-stream', 'Count to ten with code.', 'Tollgate demo: counted.'],
  ['anthropic/messages-beta-compaction', 'Go on.', 'So far: a demo. Tollgate demo: the summary was billed too.'],
  [
    'anthropic/messages-beta-fallback-stream',
    'Something delicate.',
    'Tollgate demo: the first model began, and the second model answered.',
  ],
  [
    'anthropic/messages-beta-web-search',
    'What is new at the gate?',
    'Tollgate demo: two searches, one page, one bill.',
  ],
  ['anthropic/messages-cache-1h', 'And now?', 'Tollgate demo: kept for an hour.'],
  [
    'anthropic/messages-cache',
    'Say hello to the demo.',
    'Tollgate demo: cached reads are cheap, cache writes are not, and both are told apart here.',
  ],
  ['anthropic/messages-refusal', 'Something forbidden.', 'Tollgate demo: I began, and'],
  ['anthropic/messages-thinking', 'Say hello to the demo.', 'Tollgate demo: thought first, answered second.'],
  ['anthropic/messages-tool-use-stream', 'Say hello to the demo.', 'read_toll {"road": "A1 Köln"}'],
  ['anthropic/messages-tool-use', 'Say hello to the demo.', 'Tollgate demo: looking up the toll.'],
  ['gemini/batch-file', '', 'One. Three.'],
  ['gemini/batch-get', '', 'One. Two.'],
  ['gemini/generate-tool-call', 'What is the toll on the A1?', 'read_toll {"road":"A1"}'],
  ['gemini/interactions-stream-error', 'Greet the demo.', 'Tollgate'],
  ['gemini/stream-array-cut', 'Stream, please.', 'Tollgate demo:'],
  ['gemini/stream-sse-cut', 'Stream, please.', 'Tollgate demo: and then'],
  ['gemini/stream-sse-error', 'Stream, please.', 'Tollgate demo:'],
  ['bedrock/converse-stream-exception', 'Introduce the demo.', 'Tollgate demo: frames instead of lines,'],
  ['bedrock/converse-stream-odd-checksum', 'Introduce the demo.', 'Tollgate demo: frames instead of lines,'],
  ['bedrock/converse-stream-odd-inclusive', 'Introduce the demo.', 'Tollgate demo: frames instead of lines,'],
  ['bedrock/converse-tool-use', 'What is the toll on the A1?', 'Tollgate demo: looking up the toll.'],
  ['bedrock/invoke-llama', 'Introduce the demo.', 'Tollgate demo: counted by the model itself.'],
  ['fireworks/chat-stream-cut', 'Greet the demo.', 'Tollgate demo: and then'],
  ['fireworks/chat-tool-call', 'What is the toll on the A1?', 'read_toll {"road":"A1"}'],
  ['fireworks/rerank', 'gate', ''],
  ['together/chat-stream-error', 'Greet the demo.', 'Tollgate'],
  ['together/chat-tool-call', 'What is the toll on the A1?', 'read_toll {"road":"A1"}'],
  ['together/rerank', 'gate', 'A gate.'],
  ['deepseek/chat-stream-cut', 'Greet the demo.', 'Tollgate demo: and then'],
  ['deepseek/chat-tool-call', 'What is the toll on the A1?', 'read_toll {"road":"A1"}'],
  ['deepseek/completions-fim', 'def gate(', '):'],
  ['deepseek/tools-fetch', '', '# Gates Tollgate demo: a page.'],
  ['deepseek/tools-search', 'toll gates', 'Gates Tollgate demo: a result.'],
];

function requestOf({ request }: Fixture): PlainBody | null {
  const sent = request.body === undefined ? request.bodyText : JSON.stringify(request.body);
  if (sent === undefined) return null;
  return { head: Buffer.from(sent), tail: null, contentType: request.headers['content-type'] ?? null };
}

function answerOf({ body, headers }: Fixture): PlainBody {
  return { head: body, tail: null, contentType: headers['content-type'] ?? null };
}

function readFixture(name: string) {
  const fixture = FIXTURES.get(name);
  if (fixture === undefined) throw new Error(`no fixture ${name}`);
  return readCallTexts(requestOf(fixture), answerOf(fixture));
}

test('every exchange is in the table', () => {
  expect(TEXTS.map(([name]) => name)).toEqual([...FIXTURES.keys()]);
});

test.each(TEXTS)('%s', (name, prompt, answer) => {
  const { prompt: foundPrompt, answer: foundAnswer } = readFixture(name);
  expect([foundPrompt, foundAnswer]).toEqual([prompt, answer]);
});

test('a list shows the last message of the user and the beginning of the answer', () => {
  for (const [name, prompt, answer] of TEXTS) {
    const { promptSnippet, answerSnippet } = readFixture(name);
    const [, ...snippets] = SNIPPETS.find(([other]) => other === name) ?? [name, prompt, answer];
    expect([name, promptSnippet, answerSnippet]).toEqual([name, ...snippets]);
  }
});

test('a body that was cut anywhere is read as far as it goes, and never beyond', () => {
  const PARTS = 23;
  for (const [name, fixture] of FIXTURES) {
    const [request, answer] = [requestOf(fixture), answerOf(fixture)];
    const lengths = Array.from({ length: PARTS + 1 }, (_, part) => {
      const cut = (body: PlainBody) => ({ ...body, head: body.head.subarray(0, (body.head.length * part) / PARTS) });
      const texts = readCallTexts(request === null ? null : cut(request), cut(answer));
      return [texts.prompt.length, texts.answer.length] as const;
    });
    for (const side of [0, 1] as const) {
      const grown = lengths.map((both) => both[side]);
      // A cut piece of JSON is not yet without its escapes.
      expect([name, side, Math.max(...grown) - (grown.at(-1) ?? 0) <= 2]).toEqual([name, side, true]);
    }
  }
});
