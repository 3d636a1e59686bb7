import t from 'tap'
import { revisionPlace } from '../../../src/storage/level/revisionPlace.ts'

const place = (text: string, revision: number): string | undefined => {
  const bytes = Buffer.from(text)
  const at = revisionPlace(bytes, revision)
  return at === undefined ? undefined : bytes.toString('utf8', 0, at)
}

t.test('the revision of an object is found, whatever else the text says', async t => {
  const head = '{"apiVersion":"v1","kind":"X","metadata":{"name":"grüße","resourceVersion":"'
  t.equal(place(`${head}17"}}`, 17), head)
  t.equal(place(`${head}17"},"spec":{"a":{"resourceVersion":"17"}},"data":{"resourceVersion":"17"}}`, 17), head)
  const owned =
    '{"metadata":{"owners":[{"resourceVersion":"17"}],"quote":"\\"resourceVersion\\":\\"17\\" {{[","resourceVersion":"'
  t.equal(place(`${owned}17"},"more":1}`, 17), owned)
  t.equal(place(`${head}170"}}`, 17), undefined)
  t.equal(place('{"metadata":{"a":[{"resourceVersion":"1"},{"resourceVersion":"1"}]}}', 1), undefined)
  t.equal(place('{"metadata":{"broken":"\\', 1), undefined)
})
