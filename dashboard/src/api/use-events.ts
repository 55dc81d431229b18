/** A stream of server-sent events for as long as a component shows it. The browser reconnects and resumes by itself. */
import { useEffect, useRef, useState } from 'react';

export type StreamState = 'off' | 'connecting' | 'open' | 'reconnecting' | 'failed';

/** Tries again after the browser gave up (it does when the server answers with an error). */
const RETRY_MS = 5_000;

/** `path` null: no stream. `onEvent` may change without a reconnection. Named events only. */
export function useEvents(
  path: string | null,
  names: readonly string[],
  onEvent: (name: string, data: string) => void,
): StreamState {
  const [state, setState] = useState<StreamState>('off');
  const handler = useRef(onEvent);
  useEffect(() => {
    handler.current = onEvent;
  });
  const nameList = names.join(',');
  useEffect(() => {
    if (path === null) {
      setState('off');
      return;
    }
    let source: EventSource;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const connect = () => {
      source = new EventSource(path);
      source.onopen = () => setState('open');
      source.onerror = () => {
        if (source.readyState !== EventSource.CLOSED) {
          setState('reconnecting');
          return;
        }
        setState('failed');
        retry = setTimeout(connect, RETRY_MS);
      };
      for (const name of nameList.split(','))
        source.addEventListener(name, (event) => handler.current(name, event.data));
    };
    setState('connecting');
    connect();
    return () => {
      clearTimeout(retry);
      source.close();
    };
  }, [path, nameList]);
  return state;
}
