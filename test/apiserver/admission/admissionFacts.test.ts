/** Facts about a large object for expressions are made in slices, with the same result. */
import t from 'tap'
import { AdmissionFacts } from '../../../src/apiserver/admission/admissionFacts.ts'

const RAW = '{"__proto__":{"a":1},"list":[1,1.5,null,{"t":"x"}],"none":null,"flag":true}'

/** A turn that is over whenever somebody asks. */
function shortTurns() {
  let rests = 0
  const begin = () => ({
    due: true,
    rest: async () => {
      rests++
    },
  })
  return { begin, rests: () => rests }
}

t.test('of a large object in slices', async t => {
  const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i % 2 === 0 ? 'v' : i]))
  const plain = { object: { data, raw: JSON.parse(RAW), gone: undefined }, oldObject: null, request: { dryRun: false } }
  const [facts, other] = [new AdmissionFacts(plain), new AdmissionFacts(plain)]
  const { begin, rests } = shortTurns()
  await facts.readied(begin)
  const variables = rests()
  t.ok(variables > 30, `${variables} rests`)
  t.strictSame(facts.variables, other.variables)
  await facts.textReadied(begin)
  t.ok(rests() - variables > 5, `${rests() - variables} rests`)
  t.equal(facts.text, other.text)
  t.equal(facts.readied(begin), undefined, 'once')
  t.equal(facts.textReadied(begin), undefined, 'once')
})

t.test('of a small one nothing is waited for', async t => {
  const facts = new AdmissionFacts({ object: { metadata: {} }, oldObject: null, request: {} })
  const { begin } = shortTurns()
  t.equal(facts.readied(begin), undefined)
  t.equal(facts.textReadied(begin), undefined)
})
