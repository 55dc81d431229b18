/** What was said in a call: its messages, tools and how it ended. What is no conversation shows as JSON, never as nothing. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type LogDetail, logBodyQuery, logQuery } from '../../api/logs.ts';
import { Checkbox } from '../../components/form-field.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { assembleResponse } from '../../messages/assemble-response.ts';
import { decodeBody } from '../../messages/body-text.ts';
import type { Message } from '../../messages/conversation.ts';
import { isNothing, parseJson } from '../../messages/json-reading.ts';
import { countSharedMessages, matchToolResults, readConversation } from '../../messages/read-conversation.ts';
import { BodyNotes, NotKept } from './body-notes.tsx';
import { JsonTree } from './json-tree.tsx';
import { MessageView } from './message-view.tsx';
import { OfferedTools } from './offered-tools.tsx';
import { useHasSought } from './sought-text.tsx';
import { useAssembled, useBody, useRequestJson } from './use-bodies.ts';

const FIRST_TURNS = 60;
const STEP_TURNS = 200;

function usePreviousMessages(previousId: string | null, isWanted: boolean): readonly Message[] {
  const id = previousId ?? '';
  const enabled = isWanted && previousId !== null;
  const { data: log } = useQuery({ ...logQuery(id), enabled });
  const { data: request } = useQuery({ ...logBodyQuery(id, 'request'), enabled });
  const { data: response } = useQuery({ ...logBodyQuery(id, 'response'), enabled });
  return useMemo(() => {
    if (log === undefined || request === undefined) return [];
    const contentType = log.bodies?.response?.content_type ?? null;
    const answer =
      response === undefined ? null : assembleResponse({ bytes: response.bytes, contentType, endpoint: log.endpoint });
    const conversation = readConversation({
      endpoint: log.endpoint,
      request: parseJson(decodeBody(request.bytes).text),
      response: answer?.value,
    });
    return conversation?.messages ?? [];
  }, [log, request, response]);
}

function MessageList({
  messages,
  isMarkdown,
}: {
  readonly messages: readonly Message[];
  readonly isMarkdown: boolean;
}) {
  const hasSought = useHasSought();
  const [most, setMost] = useState(() => {
    const sought = messages.findLastIndex(hasSought);
    return sought === -1 ? FIRST_TURNS : Math.max(FIRST_TURNS, messages.length - sought);
  });
  const matches = useMemo(() => matchToolResults(messages), [messages]);
  const options = useMemo(() => ({ isMarkdown, matches }), [isMarkdown, matches]);
  const choices = messages.filter(({ choice }) => choice !== null).length;
  // The end is what one wants to see first: what is hidden is the beginning.
  const hidden = Math.max(0, messages.length - most);
  return (
    <>
      {hidden > 0 && (
        <button type="button" className="px-4 py-2 text-accent underline" onClick={() => setMost(most + STEP_TURNS)}>
          Show earlier messages ({hidden} are not shown)
        </button>
      )}
      <ol aria-label="Messages">
        {messages.slice(hidden).map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a stored call never move
          <MessageView key={index + hidden} message={message} options={options} isOneOfSeveral={choices > 1} />
        ))}
      </ol>
    </>
  );
}

export function MessagesTab({ log }: { readonly log: LogDetail }) {
  const request = useBody(log, 'request');
  const response = useBody(log, 'response');
  const requestJson = useRequestJson(request.body);
  const assembled = useAssembled(log, response.body);
  const [isMarkdown, setMarkdown] = useState(true);
  const [isOnlyNew, setOnlyNew] = useState(false);
  const previousMessages = usePreviousMessages(log.previous_id ?? null, isOnlyNew);
  const conversation = useMemo(
    () => readConversation({ endpoint: log.endpoint, request: requestJson, response: assembled?.value }),
    [log.endpoint, requestJson, assembled],
  );
  const messages = conversation?.messages ?? [];
  const shared = isOnlyNew ? countSharedMessages(previousMessages, messages) : 0;
  const shown = useMemo(() => messages.slice(shared), [messages, shared]);
  if (request.isLoading || response.isLoading) return <Skeleton label="Loading the bodies" />;
  const error = request.error ?? response.error;
  const hasNothing = request.body === undefined && response.body === undefined;
  return (
    <div>
      {error !== null && (
        <ErrorState error={error} what="the bodies" onRetry={() => [request.retry(), response.retry()]} />
      )}
      <BodyNotes body={request.body} what="request" problems={[]} />
      <BodyNotes body={response.body} what="answer" problems={assembled?.problems ?? []} />
      {conversation !== null && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2 text-ink-soft">
          <Checkbox label="Markdown" isOn={isMarkdown} onChange={setMarkdown} />
          {!isNothing(log.previous_id) && (
            <Checkbox label="Only what is new since the call before" isOn={isOnlyNew} onChange={setOnlyNew} />
          )}
          {shared > 0 && (
            <span role="status">
              {shared} earlier {shared === 1 ? 'message is' : 'messages are'} the same as in the call before
            </span>
          )}
        </div>
      )}
      {conversation?.notes.map((note) => (
        <p key={note} className="border-b border-line px-4 py-2 text-ink-soft [overflow-wrap:anywhere]">
          {note}
        </p>
      ))}
      {conversation !== null && <OfferedTools conversation={conversation} />}
      {conversation !== null && <MessageList messages={shown} isMarkdown={isMarkdown} />}
      {hasNothing && error === null && <NotKept log={log} direction="request" />}
      {conversation === null && !hasNothing && (
        <div className="flex flex-col gap-4 p-4">
          <p className="text-ink-soft">
            This is not a conversation, or not one that can be read, so here is what was sent.
          </p>
          {!isNothing(requestJson) && (
            <section aria-label="Request">
              <h3 className="mb-1 font-medium">Request</h3>
              <JsonTree label="Request" value={requestJson} />
            </section>
          )}
          {!isNothing(assembled?.value) && (
            <section aria-label="Answer">
              <h3 className="mb-1 font-medium">Answer</h3>
              <JsonTree label="Answer" value={assembled?.value} />
            </section>
          )}
          {isNothing(requestJson) && isNothing(assembled?.value) && (
            <p>The bytes are in the tabs Request and Response.</p>
          )}
        </div>
      )}
      {assembled?.error != null && (
        <div className="m-4 rounded-md bg-bad-soft p-3">
          <p className="font-medium text-bad">
            The provider reported an error
            {assembled.error.type === null ? '' : `: ${assembled.error.type.slice(0, 200)}`}
          </p>
          <p className="[overflow-wrap:anywhere]">{assembled.error.message?.slice(0, 2_000) ?? ''}</p>
        </div>
      )}
    </div>
  );
}
