/** Names of iSCSI targets are judged as upstream judges them, in time that follows their length. */
import t from 'tap'
import { iscsi } from '../../../src/kinds/volumes/volumeRules.ts'
import * as fc from '../../support/fastCheck.ts'

const volume = { path: 'spec.volumes[0]', name: 'v', podName: 'p', isPod: true, persistent: false }
const isGood = (iqn: string): boolean =>
  iscsi({ targetPortal: '10.0.0.1', lun: 0, iqn }, 'spec.volumes[0].iscsi', volume).length === 0

t.test('a qualified name is what matches the pattern of upstream', async t => {
  const upstream = /iqn\.\d{4}-\d{2}\.([A-Za-z0-9-.]+)(:[^,;*&$|\s]+)$/
  t.ok(isGood('iqn.2001-04.com.example:storage.disk1'))
  t.notOk(isGood('iqn.2001-04.com.example'))
  const piece = fc.constantFrom('iqn.2001-04.', 'iqn.', '2001', ':', '::', 'a', '-', '.', '_', ' ', ',', ';', '\n', '/')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), pieces => {
      const name = `iqn${pieces.join('')}`
      return isGood(name) === upstream.test(name)
    }),
    { numRuns: 5000 },
  )
})

t.test('a long text of many beginnings or ends is judged at once', async t => {
  for (const text of ['iqn.2001-04.', 'iqn.2001-04.a:', 'iqn.2001-04.a:,', 'iqn:::::'])
    t.notOk(isGood(`${text.repeat(200_000)},`), text)
  t.ok(isGood('iqn.2001-04.a:'.repeat(200_000)))
})
