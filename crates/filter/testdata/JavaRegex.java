// Fills the last column of java_regex.tsv with what java.util.regex says:
//   java JavaRegex.java < java_regex.tsv > new && mv new java_regex.tsv
// `{n}` and `{r}` in a text are the two line ends, `{85}` and the like characters by number.
// A mark is y (found), n (not found); `bad` stands for all of them if the pattern is refused.
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.regex.*;

public class JavaRegex {
  public static void main(String[] args) throws IOException {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    String[] texts = {};
    for (String line; (line = in.readLine()) != null;) {
      String[] column = line.split("\t", -1);
      if (line.startsWith("texts\t")) {
        texts = column;
      } else if (column.length == 3) {
        line = column[0] + "\t" + column[1] + "\t" + marks(column[1], Integer.parseInt(column[0]), texts);
      }
      out.println(line);
    }
    out.flush();
  }

  static String marks(String regex, int flags, String[] texts) {
    try {
      Pattern pattern = Pattern.compile(regex, flags);
      var marks = new StringBuilder();
      for (int i = 1; i < texts.length; i++) {
        marks.append(pattern.matcher(text(texts[i])).find() ? 'y' : 'n');
      }
      return marks.toString();
    } catch (IllegalArgumentException e) {
      return "bad";
    }
  }

  static String text(String s) {
    s = s.replace("{n}", "\n").replace("{r}", "\r");
    Matcher m = Pattern.compile("\\{([0-9a-f]{2,5})\\}").matcher(s);
    return m.replaceAll(r -> Matcher.quoteReplacement(Character.toString(Integer.parseInt(r.group(1), 16))));
  }
}
