/** One message of a conversation: who speaks, and what. */
import { Badge, type Tone } from '../../components/badges.tsx';
import type { Message, Role } from '../../messages/conversation.ts';
import { type PartOptions, PartView } from './part-view.tsx';

const ROLE_TONES: Readonly<Record<Role, Tone>> = {
  system: 'warn',
  developer: 'warn',
  user: 'accent',
  assistant: 'good',
  tool: 'neutral',
  other: 'neutral',
};

const USUAL_STOPS = /^(?:stop|end_turn|completed|tool_use|tool_calls|STOP|stop_sequence|function_call)$/;

interface MessageViewProps {
  readonly message: Message;
  readonly options: PartOptions;
  readonly isOneOfSeveral: boolean;
}

export function MessageView({ message, options, isOneOfSeveral }: MessageViewProps) {
  const { role, name, source, choice, stopReason, parts } = message;
  return (
    <li className="flex flex-col gap-1 border-b border-line/60 px-4 py-3 last:border-0">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={ROLE_TONES[role]}>{role}</Badge>
        {name !== null && <span className="text-xs text-ink-soft [overflow-wrap:anywhere]">{name.slice(0, 200)}</span>}
        {source === 'response' && <span className="text-xs text-ink-faint">the answer</span>}
        {isOneOfSeveral && choice !== null && <span className="num text-xs text-ink-faint">choice {choice + 1}</span>}
        {stopReason !== null && (
          <Badge tone={USUAL_STOPS.test(stopReason) ? 'neutral' : 'warn'} title="Why the answer ended">
            stop: {stopReason.slice(0, 100)}
          </Badge>
        )}
      </div>
      {parts.length === 0 && <p className="text-ink-faint">(empty)</p>}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a stored call never move
        <div key={index} className="max-w-[100ch] min-w-0">
          <PartView part={part} options={options} />
          {part.cacheMark !== null && (
            <Badge tone="accent" title="The prompt up to here is marked for the provider’s cache">
              cache mark: {part.cacheMark.slice(0, 60)}
            </Badge>
          )}
        </div>
      ))}
    </li>
  );
}
