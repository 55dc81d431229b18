/** Declares a price, a mapping or a discount: the form, what it would change, and only then the button that saves it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type DeclarationKind, type Preview, previewChange, type Rates, saveDeclaration } from '../../api/prices.ts';
import { Button } from '../../components/buttons.tsx';
import { Dialog, focusOnMount } from '../../components/dialog.tsx';
import { Problem } from '../../components/states.tsx';
import { DeclarationFields, listFieldNames } from './declaration-fields.tsx';
import { type DeclarationForm, findUnsendable, readFieldProblem, toDeclaration } from './declaration-form.ts';
import { PreviewResult } from './preview-result.tsx';
import { CLASS_CHOICES } from './price-words.ts';

const TITLES: Readonly<Record<DeclarationKind, readonly [string, string]>> = {
  override: ['Add a price', 'Change the price'],
  mapping: ['Map an id to a model', 'Change the mapping'],
  multiplier: ['Add a discount', 'Change the discount'],
};

interface DeclareDialogProps {
  readonly start: DeclarationForm;
  readonly isSaved: boolean;
  readonly wantedRates?: readonly (keyof Rates)[];
  readonly onClose: () => void;
  readonly renderNext: (form: DeclarationForm) => ReactNode;
}

interface Shown {
  readonly text: string;
  readonly preview: Preview;
}

export function DeclareDialog({ start, isSaved, wantedRates = [], onClose, renderNext }: DeclareDialogProps) {
  const queries = useQueryClient();
  const [form, setForm] = useState(start);
  const [shown, setShown] = useState<Shown | null>(null);
  const declaration = toDeclaration(form);
  const text = JSON.stringify(declaration);
  const previewing = useMutation({
    mutationFn: () => previewChange({ add: declaration, remove: null }),
    onSuccess: (preview) => setShown({ text, preview }),
  });
  const saving = useMutation({
    mutationFn: () => saveDeclaration(declaration),
    // What a call costs is another question from now on.
    onSuccess: () => queries.invalidateQueries({ queryKey: ['prices'] }),
  });
  const [addTitle, changeTitle] = TITLES[form.kind];
  if (saving.isSuccess)
    return (
      <Dialog title="Saved" isOpen onClose={onClose} size="large">
        <div className="flex flex-col gap-3">
          <p tabIndex={-1} ref={focusOnMount} className="outline-none">
            Every call from now on is priced by it.
          </p>
          {renderNext(form)}
          <div className="flex justify-end">
            <Button onClick={onClose}>Close</Button>
          </div>
        </div>
      </Dialog>
    );
  const unsendable = findUnsendable(form);
  const refusal = readFieldProblem(saving.error ?? previewing.error, listFieldNames(form, CLASS_CHOICES));
  const problems = { ...(refusal?.field ? { [refusal.field]: refusal.message } : {}), ...unsendable };
  const change = (part: Partial<DeclarationForm>) => {
    setForm({ ...form, ...part });
    previewing.reset();
    saving.reset();
  };
  const isPreviewed = shown !== null && shown.text === text;
  const isBlocked = Object.keys(unsendable).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isBlocked || previewing.isPending || saving.isPending) return;
    if (isPreviewed) saving.mutate();
    else previewing.mutate();
  };
  return (
    <Dialog title={isSaved ? changeTitle : addTitle} isOpen onClose={onClose} size="large">
      <form onSubmit={submit} className="flex flex-col gap-4">
        {isSaved && (
          <p className="text-xs text-ink-faint">
            This takes the place of the one before. For another model, other terms or a later date, add one.
          </p>
        )}
        <DeclarationFields
          form={form}
          onChange={change}
          problems={problems}
          isSaved={isSaved}
          wantedRates={wantedRates}
        />
        {isPreviewed && (
          // It comes in below everything else, so that it must be brought into sight.
          <div ref={(element) => element?.scrollIntoView({ block: 'nearest' })} className="scroll-mb-16">
            <PreviewResult preview={shown.preview} />
          </div>
        )}
        <div className="sticky -bottom-5 -mx-5 -mb-5 flex flex-wrap items-center justify-end gap-2 border-t border-line bg-panel px-5 py-3">
          <Problem
            message={refusal?.field == null ? refusal?.message : `Not accepted: ${refusal.message}`}
            className="w-full"
          />
          {!isPreviewed && (
            <span className="text-xs text-ink-faint">It can be saved once its preview has been shown.</span>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            // Enter shows the preview first, and saves then.
            type={isPreviewed ? 'button' : 'submit'}
            look={isPreviewed ? 'plain' : 'primary'}
            disabled={isBlocked}
            isBusy={previewing.isPending}
            onClick={isPreviewed ? () => previewing.mutate() : undefined}
          >
            {previewing.isPending ? 'Looking…' : 'Preview'}
          </Button>
          <Button
            type={isPreviewed ? 'submit' : 'button'}
            look={isPreviewed ? 'primary' : 'plain'}
            disabled={!isPreviewed}
            isBusy={saving.isPending}
          >
            {saving.isPending ? 'Saving…' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
