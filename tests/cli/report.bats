# A page of runs.
bats_require_minimum_version 1.5.0
load helper

# page FILE EXPRESSION, with its text as `s` and its elements as `e`: (name,
# attributes) each.  Fails if tags are not closed in their order.
page() {
  python3 - "$@" <<'PY'
import html.parser, json, re, sys
VOID = {"meta", "br", "rect", "path", "polyline", "input"}
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.e, self.open, self.data, self.words = [], [], [], ""
    def handle_starttag(self, name, attributes):
        self.e.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)
    def handle_startendtag(self, name, attributes):
        self.e.append((name, dict(attributes)))
    def handle_endtag(self, name):
        assert self.open.pop() == name, (name, self.getpos())
        self.words += " " if name in ("th", "td") else ""
    def handle_data(self, data):
        if self.open and self.open[-1] == "script" and self.e[-1][1].get("type"):
            self.data.append(json.loads(data))
        elif self.open and self.open[-1] not in ("script", "style"):
            self.words += data
s = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(s)
assert not page.open, page.open
e, data, words = page.e, page.data, re.sub(r"\s+", " ", page.words)
ids = [a["id"] for _, a in e if "id" in a]
assert len(ids) == len(set(ids))
print(eval(sys.argv[2]))
PY
}

@test "a page has the runs, their attempts, curves and last words, and loads nothing" {
  job a.yaml a 'for i in 1 2 3; do echo "step=$i loss=0.$((9 - i))"; done; n=$(cat "$JOBRUN_RUN_DIR/n" 2>/dev/null || echo 0); echo $((n + 1)) >"$JOBRUN_RUN_DIR/n"; [ $n = 1 ] || { echo "</script><img src=x onerror=alert(1)> it broke" >&2; exit 3; }'
  echo '  restart: {maxRestarts: 2, backoff: 0s}' >>a.yaml
  echo '  env: {BAD: "<b>&\"bold"}' >>a.yaml
  jobrun apply a.yaml
  jobrun apply --rerun --set 'jobrun.env.MORE=x' a.yaml
  run --separate-stderr jobrun report a
  [ "$status" -eq 0 ]
  [[ $stderr == "jobrun: wrote 'a.html' ("*" kB)" ]]
  [ "$(page a.html '[k for n, a in e for k in a if k in ("src", "srcset", "onerror", "onload")]')" = "[]" ]
  [ "$(page a.html '[a["href"] for n, a in e if "href" in a and not a["href"].startswith(("#", "file:///"))]')" = "[]" ]
  [ "$(page a.html '[n for n, a in e if n in ("img", "link", "iframe", "object", "b") and not a.get("class", "").startswith("state ")]')" = "[]" ]
  # Only the page's own script runs, by its digest.
  page a.html 'next(a["content"] for n, a in e if a.get("http-equiv"))' >policy
  grep -q "default-src 'none'" policy
  [ "$(page a.html 's.rpartition("<script>")[2].partition("</script>")[0]' | python3 -c 'import sys,hashlib,base64
print(base64.b64encode(hashlib.sha256(sys.stdin.read()[:-1].encode()).digest()).decode())')" = \
    "$(sed "s/.*'sha256-\(.*\)'.*/\1/" policy)" ]
  page a.html words >words
  grep -q 'it broke' words
  grep -q '<b>&"bold' words
  grep -q 'attempt 3 ✖ FAILED' words
  grep -q 'exit status 3; failed first' words
  grep -q 'Changed since the run before (attempt 2, SUCCEEDED) What Before Now settings.env.MORE x' words
  # Two attempts with three points each: step, milliseconds, value.
  [ "$(page a.html '[[len(c), c[0::3], c[2::3]] for c in data[0]]')" = \
    "[[9, [1, 1, 1], [0.8, 0.7, 0.6]], [9, [1, 1, 1], [0.8, 0.7, 0.6]]]" ]
  # What it cost, where somebody says the price of an hour.
  echo '{currency: EUR, prices: [{machineType: n1-standard-4, perHour: 90000000}]}' >prices.yaml
  jobrun report --prices prices.yaml -o priced.html a
  page priced.html words | grep -Eq 'cost, by the price list [0-9]+\.[0-9][0-9] EUR'
  # The name says which attempt; the report can go to a pipe.
  [[ $(jobrun report -o - a.2) == "<!DOCTYPE html>"*"attempt 2"*"</html>" ]]
  run jobrun report a.7
  [ "$status" -ne 0 ]
  [[ $output == *"job 'a' has no attempt 7"* ]]
}

@test "trials are a table, the best first, and lines over their parameters" {
  job a.yaml a 'echo "step=1 loss=$(printf "%s" "$*" | tr -dc 0-9)"' '  hyperparameters:
    goal: MINIMIZE
    hyperparameterMetricTag: loss
    maxTrials: 4
    maxParallelTrials: 1
    params:
      - {parameterName: k, type: DISCRETE, discreteValues: [1, 2, 3, 4]}'
  sed -i 's/command: \[sh, -c, \(.*\)\]/command: [sh, -c, \1, sh]/' a.yaml
  jobrun apply a.yaml
  jobrun report -o r.html a
  page r.html words >words
  grep -q 'Trials' words
  [ "$(page r.html 'sum(n == "polyline" and "line" in a["class"].split() for n, a in e)')" -eq 4 ]
  [ "$(page r.html '[w.split()[0:4] for w in s.split("<tbody>")[-1:]] and re.findall(r"<tr data-trial=\"\d+\"[^>]*>.*?</tr>", s)[0].count("(best)")')" -eq 1 ]
  [ "$(page r.html '[len(c) for c in data[0]]')" = "[3, 3, 3, 3]" ]
  # One trial alone.
  jobrun report -o one.html a/2
  [ "$(page one.html '[len(c) for c in data[0]]')" = "[3]" ]
  run jobrun report a/9
  [[ $output == *"'a' has no trial 9"* ]]
}

@test "a hundred runs with long curves are less than 3 MB, and a peak stays" {
  local i
  job a.yaml a 'seq 1 3000 | sed "s/.*/step=& loss=0.& acc=0.5&/; s/step=1234 loss=.* /step=1234 loss=77 /"'
  jobrun apply a.yaml >/dev/null
  for i in {1..100}; do echo a; done | xargs "$JOBRUN" report -o r.html
  [ "$(stat -c %s r.html)" -lt 3000000 ]
  [ "$(page r.html 'all(77 in c[2::3] for c in data[0]), len(data[0])')" = "(True, 100)" ]
  jobrun report -o one.html a
  [ "$(page one.html '[len(c) // 3 for c in data[0]]')" = "[3000]" ]
}

@test "a plan is a page, too: actions, changes, notes" {
  job a.yaml a true
  echo '  env: {X: "<script>1</script>"}' >>a.yaml
  jobrun plan --format html a.yaml >p.html
  page p.html words >words
  grep -q '1 to run' words
  grep -q 'run a not run yet' words
  grep -q 'env.X <script>1</script>' words
  [ "$(page p.html '[a for n, a in e if n == "script"]')" = "[{}]" ]
}
