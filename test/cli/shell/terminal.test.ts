import t from 'tap'
import { shownText } from '../../../src/cli/shell/terminal.ts'

t.test('lines, tabs and the colours of tables stay', async t => {
  const line = 'a\tb\n\u001b[31mRefused\u001b[0m   \u001b[1mx\u001b[0m ü 界'
  t.equal(shownText(line), line)
})

t.test('what would steer a terminal, or turn the direction of writing, is shown as a number', async t => {
  const shown = {
    '\u001b[2Jgone': '\\u001b[2Jgone',
    '\u001b[8mhidden': '\\u001b[8mhidden',
    '\u001b]0;title\u0007': '\\u001b]0;title\\u0007',
    '\u009b31mred': '\\u009b31mred',
    '\u0007[31mno escape': '\\u0007[31mno escape',
    'over\rwritten': 'over\\u000dwritten',
    '\u202egnp.exe': '\\u202egnp.exe',
    'nul\u0000': 'nul\\u0000',
  }
  for (const [text, is] of Object.entries(shown)) t.equal(shownText(text), is)
})

t.test('a JSON document stays one', async t => {
  const value = { message: '\u001b[2J\u007f\u009b\u2066' }
  t.same(JSON.parse(shownText(JSON.stringify(value))), value)
})
