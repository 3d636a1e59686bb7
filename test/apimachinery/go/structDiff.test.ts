/** What differs is shown as long as somebody could read it; how, refusals of pods' updates say (podUpdate). */
import t from 'tap'
import { structDiffs } from '../../../src/apimachinery/go/structDiff.ts'
import { readProtobufFields } from '../../../src/program/dataFiles.ts'

const diff = structDiffs('PodSpec', readProtobufFields)
const TOO_MUCH = '(too much to show what differs)\n'
const spec = (count: number, value: string) => ({
  containers: [{ name: 'c', env: Array.from({ length: count }, (_, i) => ({ name: `E${i}`, value })) }],
})

t.test('a short difference is shown, and nothing of specs with very many values', async t => {
  t.match(diff(spec(1000, 'a'), { ...spec(1000, 'a'), nodeName: 'n' }), /\+ +"NodeName": "n"/)
  t.equal(diff(spec(2000, 'a'), { ...spec(2000, 'a'), nodeName: 'n' }), TOO_MUCH)
})

t.test('nor where too much differs', async t => {
  t.equal(diff(spec(1000, 'a'.repeat(50)), spec(1000, 'b'.repeat(50))), TOO_MUCH)
})
