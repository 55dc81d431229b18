/** One part of a message: text, reasoning, a tool call with its result, media, or JSON for what is none of them. */
import { Brain, CircleAlert, Hammer, Link2 } from 'lucide-react';
import type { Part, ToolCallPart, ToolResultPart } from '../../messages/conversation.ts';
import { isRecord, parseJson } from '../../messages/json-reading.ts';
import type { ToolMatches } from '../../messages/read-conversation.ts';
import { JsonTree } from './json-tree.tsx';
import { LongText } from './long-text.tsx';
import { MAX_MARKDOWN_CHARACTERS, MarkdownText } from './markdown-text.tsx';
import { MediaView } from './media-view.tsx';

export interface PartOptions {
  readonly isMarkdown: boolean;
  readonly matches: ToolMatches;
}

interface PartViewProps {
  readonly part: Part;
  readonly options: PartOptions;
}

function TextView({ text, isMarkdown }: { readonly text: string; readonly isMarkdown: boolean }) {
  if (isMarkdown && text.length <= MAX_MARKDOWN_CHARACTERS) return <MarkdownText text={text} />;
  return <LongText text={text} />;
}

/** Results are often JSON in a text. */
function ResultPart({ part, options }: PartViewProps) {
  const value = part.type === 'text' ? parseJson(part.text) : undefined;
  if (isRecord(value) || Array.isArray(value)) return <JsonTree label="Result" value={value} openLevels={1} />;
  return <PartView part={part} options={{ ...options, isMarkdown: false }} />;
}

function ResultView({ result, options }: { readonly result: ToolResultPart; readonly options: PartOptions }) {
  return (
    <div className={`rounded-md border-l-2 pl-3 ${result.isError ? 'border-bad' : 'border-good'}`}>
      <p className={`text-xs font-medium ${result.isError ? 'text-bad' : 'text-ink-soft'}`}>
        {result.isError ? 'Result: an error' : 'Result'}
        {result.name !== null && ` of ${result.name}`}
      </p>
      {result.parts.length === 0 && <p className="text-ink-faint">(empty)</p>}
      {result.parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a stored call never move
        <ResultPart key={index} part={part} options={options} />
      ))}
    </div>
  );
}

function ToolCallView({ call, options }: { readonly call: ToolCallPart; readonly options: PartOptions }) {
  const result = options.matches.resultOf.get(call);
  return (
    <div className="my-1 flex flex-col gap-2 rounded-md border border-line bg-surface p-2.5">
      <p className="flex flex-wrap items-center gap-1.5">
        <Hammer size={14} aria-hidden className="text-ink-soft" />
        <span className="text-xs text-ink-soft">{call.isHosted ? 'Provider’s tool' : 'Tool call'}</span>
        <strong className="[overflow-wrap:anywhere]">{call.name}</strong>
        {call.id !== null && <code className="font-mono text-xs text-ink-faint">{call.id.slice(0, 80)}</code>}
      </p>
      {typeof call.arguments === 'string' ? (
        <LongText text={call.arguments} className="font-mono text-xs" />
      ) : (
        call.arguments !== null && <JsonTree label={`Arguments of ${call.name}`} value={call.arguments} />
      )}
      {result !== undefined && <ResultView result={result} options={options} />}
    </div>
  );
}

export function PartView({ part, options }: PartViewProps) {
  switch (part.type) {
    case 'text':
      return <TextView text={part.text} isMarkdown={options.isMarkdown} />;
    case 'reasoning':
      return (
        <details className="my-1 rounded-md bg-raised px-2.5 py-1.5">
          <summary className="text-xs text-ink-soft">
            <Brain size={14} aria-hidden className="mr-1 inline" />
            Reasoning
            {part.isHidden
              ? ', encrypted by the provider'
              : ` (${part.text.length.toLocaleString('en-US')} characters)`}
          </summary>
          {!part.isHidden && <LongText text={part.text} className="mt-1 text-ink-soft" />}
        </details>
      );
    case 'tool_call':
      return <ToolCallView call={part} options={options} />;
    case 'tool_result': {
      const call = options.matches.callOf.get(part);
      if (call !== undefined)
        return <p className="text-xs text-ink-soft">Result of {call.name}: shown with its call above.</p>;
      return <ResultView result={part} options={options} />;
    }
    case 'media':
      return <MediaView part={part} />;
    case 'refusal':
      return (
        <div className="my-1 rounded-md bg-bad-soft px-2.5 py-1.5">
          <p className="text-xs font-medium text-bad">
            <CircleAlert size={14} aria-hidden className="mr-1 inline" />
            Refusal
          </p>
          <LongText text={part.text} />
        </div>
      );
    case 'citations':
      return (
        <details className="my-1 text-xs text-ink-soft">
          <summary>
            <Link2 size={13} aria-hidden className="mr-1 inline" />
            {part.citations.length} {part.citations.length === 1 ? 'citation' : 'citations'}
          </summary>
          <ul className="mt-1 list-disc pl-5">
            {part.citations.slice(0, 100).map(({ title, source }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the citations of a stored call never move
              <li key={index} className="[overflow-wrap:anywhere]">
                {[title, source].filter((text) => text !== null).join(' · ')}
              </li>
            ))}
          </ul>
        </details>
      );
    case 'unknown':
      return (
        <div className="my-1">
          <p className="text-xs text-ink-faint">{part.label.slice(0, 200)}</p>
          <JsonTree label={part.label} value={part.value} />
        </div>
      );
  }
}
