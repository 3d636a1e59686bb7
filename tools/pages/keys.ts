/** docs/reference/annotations.md: labels, annotations and finalizers with a meaning. */
import { ANNOTATIONS, FINALIZERS, type KeyText, LABELS } from '../../src/placement/words/keyTexts.ts'
import { page, table } from './markdown.ts'

export function keysPage(): string {
  return page(
    '# Annotations and labels',
    'A reference for everybody, which `npm run pages` writes.',
    '## Annotations',
    keyTable(ANNOTATIONS),
    '## Labels',
    keyTable(LABELS),
    '## Finalizers',
    keyTable(FINALIZERS),
    '## Names',
    'SyncerConfig `the-one`; ServiceAccount `kubestellar-syncer` in mailboxes, with the Secrets `kubestellar-syncer-credential-…` and `kubestellar-syncer-session`, which hold nothing secret. Field managers: `placement-translator`, `where-resolver`, `mailbox-controller`, `notice-controller`, `kubestellar-syncer`, `orrery-left`.',
  )
}

function keyTable(keys: readonly KeyText[]): string {
  return table(
    ['key', 'on', 'written by', 'meaning'],
    keys.map(([key, value, ...others]) => [
      `\`${key}${value === '' ? '' : `: ${value}`.replaceAll('|', '\\|')}\``,
      ...others,
    ]),
  )
}
