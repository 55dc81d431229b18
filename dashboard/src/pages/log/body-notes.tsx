/** What is not right with a stored body, one line each: what of it is missing, what could not be read. */
import { formatBytes } from '../../../../src/format-amounts.ts';
import type { StoredBody } from '../../api/logs.ts';
import { StaleNote } from '../../components/states.tsx';

interface BodyNotesProps {
  readonly body: StoredBody | undefined;
  /** `request` or `answer`. */
  readonly what: string;
  readonly problems: readonly string[];
}

function listNotes({ body, what, problems }: BodyNotesProps): readonly string[] {
  if (body === undefined) return problems;
  const { cutBytes, decodedLimit, isEncoded } = body;
  return [
    ...(cutBytes > 0
      ? [
          `${formatBytes(cutBytes)} of the ${what} were not kept: it is larger than what is stored of one body. What is here is the rest, without a sign where they are missing.`,
        ]
      : []),
    ...(decodedLimit === null ? [] : [`The ${what} goes on: it was decoded up to ${formatBytes(decodedLimit)}.`]),
    ...(isEncoded
      ? [`The ${what} is not encoded as its headers say, so its bytes are shown as they went over the wire.`]
      : []),
    ...problems,
  ];
}

export function BodyNotes(props: BodyNotesProps) {
  return listNotes(props).map((note) => <StaleNote key={note}>{note}</StaleNote>);
}
