/** Authors of halts: a comment pauses and resumes its repository; only an operator lifts an operator's halt. Pure. */

/** No caller of the API has such a name: names in ARNs of IAM have no colon. */
const IN_A_COMMENT = 'github:'

/** The author of a halt set by a comment of the person with `login`. */
export function pausedBy(login: string): string {
  return `${IN_A_COMMENT}${login}`
}

/** True for a halt set by a comment; every other halt is an operator's. */
export function isPause({ by }: { readonly by: string }): boolean {
  return by.startsWith(IN_A_COMMENT)
}
