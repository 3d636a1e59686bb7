/**
 * Tokens end with what they hang on: what is remembered of a space's tokens is forgotten inside the commit that ends one of
 * their objects, or makes another of it. Whoever was told of that sees it with the next request.
 */
import type { Store } from '../../storage/store.ts'
import type { UnionAuthenticator } from './union.ts'

/** Whether only the end of an object matters: of these, everything else is written all the time. */
const TOKENS_HANG_ON = { serviceaccounts: false, secrets: false, pods: true, nodes: true }
/** The mark of an object that ends after its grace period. */
const ENDING = '"deletionTimestamp":'

export function forgetEndedTokens(
  store: Pick<Store, 'project'>,
  tokens: Pick<UnionAuthenticator, 'clear' | 'forget'>,
): void {
  for (const [resource, endOnly] of Object.entries(TOKENS_HANG_ON)) {
    store.project(
      { group: '', resource },
      {
        reset: () => tokens.clear(),
        apply({ type, key, stored }) {
          if (type === 'delete' || !endOnly || stored.bytes.includes(ENDING)) tokens.forget(key.space)
        },
      },
    )
  }
}
