import t from 'tap'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { CelCompileError, checkRuleTypes } from '../../../src/apimachinery/structural/celProgram.ts'

const text: Schema = { type: 'string' }
const schema: Schema = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  properties: {
    s: text,
    i: { type: 'integer' },
    n: { type: 'number' },
    b: { type: 'boolean' },
    t: { type: 'string', format: 'date-time' },
    l: { type: 'array', items: text },
    m: { type: 'object', additionalProperties: { type: 'integer' } },
    o: { type: 'object', properties: { x: text } },
    either: { 'x-kubernetes-int-or-string': true },
  },
}

t.test('what goes together passes', async t => {
  const rules = [
    'self.i > 1.5 && self.n > 1',
    'self.either == 5 || self.either == "5"',
    'self.m.all(k, self.m[k] > 1) && self.m.a == 1',
    'self.l.filter(x, x != "").size() == 0',
    'self.t > timestamp("2020-01-01T00:00:00Z") && self.t != null',
    'self.l[0] == self.l[self.l.size() - 1]',
    'self.l.reverse()[0] != "z" && self.l.sort() == self.l && self.l.slice(0, 1).distinct()[0] == self.s',
    'self.b ? self.s == "a" : self.i == -9223372036854775808',
    '"a" in self.m && self.s in self.l && self.i in [1, 2]',
    'self.metadata.name.startsWith("a") && self.kind != "" && self.o.x.contains(self.s)',
    'has(self.o) && self.o == oldSelf.o',
    'dyn(self.s) == 1',
  ]
  for (const rule of rules) t.ok(['bool', 'dyn'].includes(checkRuleTypes(rule, schema, schema)), rule)
  t.equal(checkRuleTypes('self.l.map(x, x)', schema, schema), 'list(string)')
  t.equal(checkRuleTypes('self.s', schema, schema), 'string')
})

t.test('what does not go together is told where, in the words of cel-go', async t => {
  const cases: [rule: string, column: number, message: string][] = [
    ['self.s == 1', 8, "found no matching overload for '_==_' applied to '(string, int)'"],
    ['self.s + 1 == 2', 8, "found no matching overload for '_+_' applied to '(string, int)'"],
    ['size(self.i) > 0', 5, "found no matching overload for 'size' applied to '(int)'"],
    ['self.l.all(x, x > 1)', 17, "found no matching overload for '_>_' applied to '(string, int)'"],
    ['self.m[1] == 1', 7, "found no matching overload for '_[_]' applied to '(map(string, int), int)'"],
    ['self.i == 1u', 8, "found no matching overload for '_==_' applied to '(int, uint)'"],
    ['self.s == null', 8, "found no matching overload for '_==_' applied to '(string, null)'"],
    ['!self.s', 1, "found no matching overload for '!_' applied to '(string)'"],
    ['true && self.i', 13, "expected type 'bool' but found 'int'"],
    ['[1, "a"].size() == 2', 5, "expected type 'int' but found 'string'"],
    ['self.s.reverse() == "a"', 15, "found no matching overload for 'reverse' applied to 'string.()'"],
    ['has(self.o.nope)', 4, "undefined field 'nope'"],
    ['[self.o].all(x, x.nope == 1)', 18, "undefined field 'nope'"],
    ['self.o.?nope.hasValue()', 7, "undefined field 'nope'"],
    ['self.i > 9223372036854775808', 10, 'invalid int literal'],
    ['self.s.matches("(")', 16, 'invalid matches argument'],
  ]
  for (const [rule, column, message] of cases) {
    try {
      checkRuleTypes(rule, schema, schema)
      t.fail(rule)
    } catch (error) {
      t.type(error, CelCompileError)
      t.equal((error as Error).message.split('\n')[0], `ERROR: <input>:1:${column}: ${message}`, rule)
    }
  }
})
