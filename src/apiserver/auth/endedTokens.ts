/**
 * Tokens end with the objects that they depend on. The commit that ends or replaces one of these clears the memory of the space's tokens.
 * The effect is visible with the next request after that commit's answer.
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
