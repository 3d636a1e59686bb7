/** The report of a placement on its associated objects: each cause has its reason and its remedy, and older Events are no fault. */
import t from 'tap'
import {
  type AssociatedReportDeps,
  associatedReport,
} from '../../../../../src/controllers/placement/status/conditions/associatedReport.ts'
import type { AssociatedStatus } from '../../../../../src/placement/desks/syncerConfig.ts'
import { compilePlacement } from '../../../../../src/placement/select/placementSpec.ts'
import type { Ways } from '../../../../../src/placement/words/ways.ts'

const spec = (kinds: string[]) =>
  compilePlacement({
    apiVersion: 'e/v1',
    kind: 'EdgePlacement',
    metadata: { name: 'p' },
    spec: { associated: { kinds } },
  })
const WAYS = new Map(['a', 'b'].map(name => [name, [{ locationName: `at-${name}` }]])) as unknown as Ways
const NONE = { leftOut: 0, olderEvents: 0, notTaken: 0, notAllowed: 0 }
const reportOf = (statuses: Record<string, Partial<AssociatedStatus>>, granted = ['pods'], full: string[] = []) => {
  const deps = {
    allowance: () => ({ associated: () => granted }),
    reported: (mailbox: string) => ({ leftOut: [], notAllowed: [], ...statuses[mailbox] }),
    full,
  } as unknown as AssociatedReportDeps
  return (name: string) => associatedReport(deps, { space: 's', name }, spec(['pods']), WAYS)
}

t.test('objects without room, those not taken and older Events have reasons of their own', async t => {
  const of = reportOf({
    a: {
      leftOut: [
        { space: 's', placement: 'p', ...NONE, leftOut: 3, olderEvents: 5 },
        { space: 's', placement: 'q', ...NONE, olderEvents: 7 },
        { space: 'other', placement: 'p', ...NONE, leftOut: 100 },
      ],
    },
    b: { leftOut: [{ space: 's', placement: 'p', ...NONE, leftOut: 1, notTaken: 2 }] },
  })
  const found = of('p')
  t.equal(found?.reason, 'AssociatedLimit')
  t.match(
    found?.message,
    /^at-a, at-b: 4 objects are left out: .*\. at-b: 2 objects are of kinds .*full: true\. at-a: 5 older Events/,
  )
  const events = of('q')
  t.equal(events?.reason, undefined, 'older Events are no fault')
  t.match(events?.message, /^at-a: 7 older Events are left out: an object has its 20 newest ones$/)
  t.strictSame(of('r'), { message: '' })
})

t.test('the first reason is the one that most depends on others', async t => {
  const leftOut = [{ space: 's', placement: 'p', ...NONE, notAllowed: 1, notTaken: 1 }]
  t.match(reportOf({ a: { leftOut } })('p'), {
    reason: 'AssociatedNotAllowed',
    message: /^at-a: 1 objects? .*--allow-namespaces/,
  })
  t.match(reportOf({ a: { leftOut, notAllowed: ['pods'] } }, [])('p'), {
    reason: 'AssociatedNotGranted',
    message: /^at-a, at-b: pods may not be carried up.*\. at-a: pods may not be read there/,
  })
  t.match(reportOf({}, ['pods'], ['at-b'])('p'), { reason: 'UpsyncBudgetExceeded' })
})
