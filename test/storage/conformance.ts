/**
 * The promises of {@link Store}, as tests that every engine must pass. A difference is a deviation with a reason.
 */
import type { Test } from 'tap'
import { historyCases } from './conformance/histories.ts'
import { lifecycleCases } from './conformance/lifecycle.ts'
import { listCases } from './conformance/lists.ts'
import { modelCases } from './conformance/model.ts'
import { projectionCases } from './conformance/projections.ts'
import { sharedTextCases } from './conformance/sharedTexts.ts'
import { watchCases } from './conformance/watches.ts'
import { writeCases } from './conformance/writes.ts'
import type { Engine } from './support.ts'

export function storeConformance(t: Test, engine: Engine, deviations: Record<string, string> = {}): void {
  const cases = [
    ...writeCases,
    ...listCases,
    ...watchCases,
    ...projectionCases,
    ...historyCases,
    ...lifecycleCases,
    ...modelCases,
    ...sharedTextCases,
  ]
  for (const { name, run } of cases)
    t.test(name, { skip: deviations[name] ?? false }, async t => {
      await run(t, async options => {
        const opened = await engine.open(options)
        let current = opened.store
        t.teardown(() => current.close())
        const { reopen } = opened
        if (reopen === undefined) return opened
        return {
          store: opened.store,
          reopen: async options => {
            current = await reopen(options)
            return current
          },
        }
      })
    })
}
