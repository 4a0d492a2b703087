/** Finds the JSON object in a model's answer: models put reasoning, prose or a code fence around the object. */

/** Undefined without an object that parses. */
export function jsonIn(text: string): unknown {
  const reasoning = text.lastIndexOf(REASONING_END)
  const answer = reasoning < 0 ? text : text.slice(reasoning + REASONING_END.length)
  for (const candidate of [answer, answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)]) {
    const value = parsed(candidate)
    if (typeof value === 'object' && value !== null) return value
  }
  return undefined
}

/** Ends the reasoning that an endpoint leaves in the text. */
const REASONING_END = '</think>'

/** JSON has no undefined: undefined means that the text is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
