/** Reports without marks are copies beside their metadata: they equal the report of the whole object. */
import t from 'tap'
import { decodeObject, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { plainReport } from '../../../src/apiserver/reported/shownObjects.ts'
import { reportedObject } from '../../../src/placement/content/reportedObject.ts'
import { versionOf } from '../../../src/storage/texts.ts'
import * as fc from '../../support/fastCheck.ts'

const EDGE = 'edge.kubestellar.io'
const KEY = { space: 'mailbox', group: '', resource: 'configmaps', namespace: 'app', name: 'x' }
const TO = { space: 'a', location: 'imw.paris' }
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(',"metadata":{"', '"}', '\\"', '"resourceVersion":"7"'),
)
const metadata = fc.record(
  {
    name: text,
    labels: fc.record({ tier: text, [`${EDGE}/projected`]: fc.constantFrom('yes', 'no') }, { requiredKeys: [] }),
    annotations: fc.record(
      { note: text, [`${EDGE}/owner`]: fc.constantFrom('a', 'b'), [`${EDGE}/upsynced`]: text },
      { requiredKeys: [] },
    ),
    managedFields: fc.array(fc.record({ manager: text, operation: fc.constant('Apply' as const), apiVersion: text })),
    finalizers: fc.array(text),
    deletionTimestamp: fc.constant('2026-01-01T00:00:00Z'),
  },
  { requiredKeys: ['name'] },
)
const upsyncedFor = fc.constantFrom(undefined, 'a', 'b', 'b,a')

t.test('a report is the same whether its object is read whole or not', async t => {
  const property = fc.property(metadata, upsyncedFor, fc.dictionary(text, text), (meta, askers, data) => {
    const annotations = { ...meta.annotations, ...(askers && { [`${EDGE}/upsynced-for`]: askers }) }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...meta, annotations }, data }
    const stored = versionOf(KEY, 41, encodeObject(object))
    const whole = reportedObject(decodeObject(stored), TO)
    const shown = plainReport(stored, TO, 43)
    t.same(shown && decodeObject(shown), whole && decodeObject(versionOf(KEY, 43, encodeObject(whole))))
    if (shown) t.equal(shown.bytes.toString('utf8', shown.headBytes, shown.headBytes + 5), '43"},')
  })
  fc.assert(property, { numRuns: 200 })
})
